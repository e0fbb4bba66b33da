"""A terminal for tests, without a screen: runs what follows -e under a pty, or fails in the way it is told.

What it does is in `fake_terminal.json` in the home folder: {"does": "opens" | "detaches" | "exits" |
"hangs" | "shows nothing", "notes": FILE, "screen": FILE, "types": [when this is shown, these keys]}.
"""

import json
import os
import pty
import select
import sys


def main() -> int:
    with open(os.path.join(os.environ["HOME"], "fake_terminal.json")) as file:
        told = json.load(file)
    with open(told["notes"], "a") as notes:
        notes.write(
            json.dumps({"terminal": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}) + "\n"
        )
    match told["does"]:
        case "exits":
            sys.stderr.write("fake terminal: can't open display\n")
            return 3
        case "shows nothing":
            return 0
        case "hangs":
            select.select([], [], [])
        case "detaches":
            if os.fork():
                return 0
            os.setsid()
        case _:
            pass
    words = sys.argv[sys.argv.index("-e") + 1 :]
    pid, master = pty.fork()
    if pid == 0:
        os.execv(words[0], words)
    unanswered = b""
    with open(told["screen"], "ab", buffering=0) as screen:
        while True:
            try:
                shown = os.read(master, 65536)
            except OSError:
                break
            if not shown:
                break
            screen.write(shown)
            unanswered += shown  # the words may come in two pieces
            if told.get("types") and told["types"][0].encode() in unanswered:
                unanswered = b""
                os.write(master, told["types"][1].encode())
    os.waitpid(pid, 0)
    return 0


sys.exit(main())
