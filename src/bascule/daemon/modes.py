"""Which of an agent's own modes may be chosen while it runs: those of its file, or that it offered itself."""

from msgspec.structs import replace

from bascule.daemon.launching import Launching
from bascule.model.commands import SetMode
from bascule.session.supervisor import Supervisor


def checked_mode(launcher: Launching, supervisor: Supervisor, command: SetMode) -> SetMode:
    """The command in the agent's own word. Raises `InvalidInput` for a mode that may not be chosen."""
    record = supervisor.ledger.record
    mode = launcher.mode(record.agent, record.driver, command.mode, supervisor.driver.offered_modes)
    return replace(command, mode=mode)
