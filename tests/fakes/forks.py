"""`forks.py N FILE`: starts N children, one more by a double fork and one under nohup, and lists them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from speech import behave, init, number


def child() -> int:
    pid = os.fork()
    if pid == 0:
        while True:
            signal.pause()
    return pid


def runaway() -> int:
    """A grandchild in a session of its own that nobody is the parent of."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        pid = os.fork()
        if pid:
            os.write(writing, str(pid).encode())
            os._exit(0)
        for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(one, signal.SIG_IGN)
        os.close(0)
        os.close(1)
        os.close(2)
        while True:
            signal.pause()
    os.wait()
    return int(os.read(reading, 20))


pids = [child() for _ in range(number(1, 200))]
pids.append(runaway())
pids.append(
    subprocess.Popen(["nohup", "sleep", "600"], stdout=subprocess.DEVNULL, start_new_session=True).pid
)
target = Path(sys.argv[2])
target.with_suffix(".part").write_text("\n".join(map(str, [os.getpid(), *pids])))
target.with_suffix(".part").rename(target)
init()
behave()
