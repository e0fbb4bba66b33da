"""The scripted ACP agent, which outlives the end of its input and SIGTERM and notes both. Stdlib only."""

import runpy
import signal
import sys
from contextlib import suppress
from pathlib import Path

NOTES = Path(sys.argv.pop(1))


def note(word: str) -> None:
    with NOTES.open("a") as file:
        file.write(f"{word}\n")


signal.signal(signal.SIGTERM, lambda *_: note("term"))
with suppress(SystemExit):
    runpy.run_path(str(Path(__file__).with_name("acp_agent.py")), run_name="__main__")
note("eof")
while True:
    signal.pause()
