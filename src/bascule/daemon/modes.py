"""Checks a mode chosen for a running agent: one from its file, or one the agent offered itself."""

from bascule.daemon.launching import Launching
from bascule.session.supervisor import Supervisor


def checked_mode(launcher: Launching, supervisor: Supervisor, mode: str) -> str:
    """The mode in the agent's own word. Raises `InvalidInput` for one that may not be chosen."""
    record = supervisor.ledger.record
    return launcher.mode(record.agent, record.driver, mode, supervisor.driver.offered_modes)
