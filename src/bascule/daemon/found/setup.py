"""Builds the found-sessions part: the agents' places below the home, the scan, the sessions."""

import asyncio
import os
from collections.abc import Awaitable, Callable

from bascule.daemon.device import Device
from bascule.daemon.found.kept import Cabinet
from bascule.daemon.found.places import Place
from bascule.daemon.found.scan import Scan
from bascule.daemon.found.sessions import FoundSessions
from bascule.model.commands import Actor
from bascule.model.settings import Settings
from bascule.store.limits import LimitsBook
from bascule.store.protocols import DaemonStore


def found_sessions(
    store: DaemonStore,
    places: tuple[Place, ...],
    settings: Settings,
    limits: LimitsBook,
    device: Device,
    turn: asyncio.Lock,
    go_on: Callable[[str, Actor], Awaitable[None]],
    clock: Callable[[], float],
    steady: Callable[[], float],
) -> FoundSessions:
    home = os.path.realpath(os.path.expanduser("~"))
    own = (settings.data_dir, settings.config_dir)
    cabinets = [Cabinet(home, own, place) for place in places] if settings.find_sessions else []
    scan = Scan(store, cabinets, home, own, device.id, turn, clock)
    return FoundSessions(store, scan, turn, lambda: limits.now.prompt_chars, go_on, clock, steady)
