"""What this machine's daemon is made of: the program hands it in, or a test does."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bascule.daemon.device import Device
from bascule.daemon.found.places import Place
from bascule.daemon.launching.launching import Launching
from bascule.daemon.starts.start_notices import StartNotices
from bascule.model.settings import Settings
from bascule.store.comparisons import ComparisonBook
from bascule.store.limits import LimitsBook
from bascule.store.protocols import DaemonStore
from bascule.store.rules import RuleBook


@dataclass(frozen=True)
class Inputs:
    store: DaemonStore
    rules: RuleBook
    comparisons: ComparisonBook
    launcher: Launching
    settings: Settings
    device: Device
    limits: LimitsBook
    notices: StartNotices
    histories: tuple[Place, ...]  # where agents keep conversations begun outside Bascule
    pauses: tuple[float, ...]  # before each attempt to reach an agent again
    clock: Callable[[], float]
    steady: Callable[[], float]

    @property
    def folder(self) -> Path:
        """The state folder."""
        return Path(self.settings.data_dir)

    def roots(self) -> tuple[str, ...]:
        return self.launcher.roots
