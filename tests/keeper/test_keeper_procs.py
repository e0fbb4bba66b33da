"""Identity: pid, start time and boot together, or it is another process."""

import os
import subprocess
from pathlib import Path

import msgspec
from tests.liveness import is_alive

from bascule.keeper import procs
from bascule.transport.keeper_messages import Spawned


def me():
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return Spawned(os.getpid(), int(fields[19]), procs.boot())


def test_this_process_is_alive_only_under_its_own_start_time_and_boot():
    assert is_alive(me())
    assert not is_alive(msgspec.structs.replace(me(), started=me().started + 1))
    assert not is_alive(msgspec.structs.replace(me(), boot="another boot"))


def test_an_ended_process_is_not_alive_even_before_it_is_reaped():
    child = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    started = int(Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[19])
    spawned = Spawned(child.pid, started, procs.boot())
    assert is_alive(spawned)
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(spawned)
    child.wait()
    assert not is_alive(spawned)
