"""`dump_env.py FILE`: writes its environment, argv, folder and open files to FILE, then behaves."""

import json
import os
import sys
from pathlib import Path

from speech import behave


def open_files() -> dict[str, str]:
    found: dict[str, str] = {}
    for fd in os.listdir("/proc/self/fd"):
        try:
            found[fd] = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue  # the one this listing itself used
    return found


facts = {"env": dict(os.environ), "argv": sys.argv, "cwd": str(Path.cwd()), "fds": open_files()}
target = Path(sys.argv[1])
part = target.with_suffix(".part")
part.write_text(json.dumps(facts))
part.rename(target)  # whoever waits for the file finds it whole
behave()
