"""A terminal without a screen: runs what follows -e under a pty, and answers what any terminal answers.

It says yes to a trust question (`$HOME/question.json`), as the person would. What it shows is
written to `$HOME/screen.txt`.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conformance.terminal_answers import answers_to

from bascule.drivers.terminal.trust_prompt import TrustPrompt, look
from bascule.drivers.terminal.virtual_screen import Screen

COLS, ROWS = 110, 40
YES_SECONDS = 3.0


def main() -> int:
    home = Path(os.environ["HOME"])
    told = json.loads((home / "question.json").read_text())
    question = TrustPrompt(**told) if told else None
    words = sys.argv[sys.argv.index("-e") + 1 :]
    pid, master = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(words[0], words)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
    screen, asked_at = Screen(COLS, ROWS), 0.0
    while True:
        readable, _, _ = select.select([master], [], [], 0.5)
        if readable:
            try:
                shown = os.read(master, 65536)
            except OSError:
                break
            if not shown:
                break
            screen.feed(shown)
            if reply := answers_to(shown):
                os.write(master, reply)
        lines = screen.text()
        (home / "screen.txt").write_text("\n".join(line.rstrip() for line in lines))
        asked = look(lines, question) if question else None
        if asked and asked.step and time.monotonic() - asked_at > YES_SECONDS:
            asked_at = time.monotonic()
            os.write(master, asked.step)
    os.waitpid(pid, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
