"""Checks a mode chosen for a running agent: one of its file or, without a list there, a harmless offer."""

from bascule.daemon.launching.launching import Launching
from bascule.session.supervisor import Supervisor


def checked_mode(launcher: Launching, supervisor: Supervisor, mode: str) -> str:
    """The agent's own name of the mode. Raises `InvalidInput` if the mode may not be set."""
    record = supervisor.ledger.record
    return launcher.mode(record.agent, record.driver, mode, supervisor.driver.offered_modes)
