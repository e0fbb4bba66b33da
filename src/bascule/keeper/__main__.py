"""`python -I -m bascule.keeper --dir DIR`: start the keeper, detached, unless one lives there already."""

import argparse
import os
import resource
import sys
import traceback

from bascule.keeper import folder as place
from bascule.keeper import procs
from bascule.keeper.layout import LOG, SOCKET
from bascule.keeper.log import Log
from bascule.keeper.operations import handle
from bascule.keeper.server import Keeper
from bascule.keeper.spawn import ChildSettings, close_above
from bascule.keeper.sweep import sweep_leftovers

_OPEN_FILES = 65_536


def main() -> int:
    options = _options()
    # Some starters leak descriptors into us; held for our long life, they would keep pipes from closing.
    close_above(2)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    settings = ChildSettings(os.umask(0o077), (options.open_files or soft, hard))
    try:
        folder = place.prepare(options.dir)
        lock = place.lock(folder)
    except place.AlreadyRunning as running:
        _say(f"a keeper already runs for {options.dir}: {running}")
        return 0
    except (place.FolderError, OSError) as error:
        _say(f"bascule keeper: {error}")
        return 1
    if options.foreground:
        return _serve(folder, lock, settings, options.idle, ready=-1)
    return _detach(folder, lock, settings, options.idle)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bascule.keeper", description="Owns the agents' processes and output."
    )
    parser.add_argument("--dir", required=True, help="private folder for the socket, the lock and the spools")
    parser.add_argument(
        "--idle", type=float, default=600.0, help="seconds without sessions or clients to stop after"
    )
    parser.add_argument("--open-files", type=int, help="the agents' limit, where it is not the starter's own")
    parser.add_argument("--foreground", action="store_true", help="stay attached, for a supervisor")
    return parser.parse_args()


def _detach(folder: str, lock: int, settings: ChildSettings, idle: float) -> int:
    """Serve in a child with a session of its own; return once it accepts clients, or says why not."""
    answer, ready = os.pipe()
    if os.fork() == 0:
        os.close(answer)
        os.setsid()
        os._exit(_serve(folder, lock, settings, idle, ready))
    os.close(ready)
    words = os.read(answer, 4096).decode(errors="replace")
    if words == "ready":
        return 0
    _say(words or f"bascule keeper: ended while starting; see {os.path.join(folder, LOG)}")
    return 1


def _serve(folder: str, lock: int, settings: ChildSettings, idle: float, ready: int) -> int:
    try:
        log = Log(os.path.join(folder, LOG), stderr_too=ready >= 0)
        os.chdir("/")
        place.sign_lock(lock, os.getpid(), procs.started(os.getpid()), procs.boot())
        _settle(log)
        sweep_leftovers(place.marker_of(folder), log)
        keeper = Keeper(folder, log, settings, idle, handle)
        listener = place.listen(folder)
        log.write(f"keeper {os.getpid()} serves {folder}")
        if ready >= 0:
            _let_go(ready)
        keeper.serve(listener)
        os.unlink(os.path.join(folder, SOCKET))
    except Exception as error:  # noqa: BLE001 - the last frame of the program: say it, then end with a failure
        traceback.print_exc()
        if ready >= 0:
            _tell(ready, f"bascule keeper: {error}")
        return 1
    return 0


def _settle(log: Log) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    soft = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if not procs.become_subreaper():
        log.write("no subreaper here: children that leave their group are found by their marks only")


def _let_go(ready: int) -> None:
    """Hold none of the starter's descriptors: it must be able to end, and its pipes to close, without us."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    os.write(ready, b"ready")
    os.close(ready)


def _tell(ready: int, words: str) -> None:
    try:
        os.write(ready, words.encode())
    except OSError as error:
        sys.stderr.write(f"could not tell the starter: {error}\n")


def _say(words: str) -> None:
    sys.stderr.write(words + "\n")


if __name__ == "__main__":
    sys.exit(main())
