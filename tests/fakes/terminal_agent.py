"""An agent in a terminal for tests: notes what it was given, by argument or by bracketed paste, as a hash.

Its first argument is the notes file. Words after it: `ask-trust` makes it ask a trust question first, `stay`
leaves it running, and its window open, after it has its prompt.
"""

import hashlib
import json
import os
import sys
import termios
import tty

BEGINS, ENDS = b"\x1b[200~", b"\x1b[201~"


def note(path: str, **fields: object) -> None:
    with open(path, "a") as notes:
        notes.write(json.dumps(fields) + "\n")


def given(text: bytes) -> dict[str, object]:
    return {"sha256": hashlib.sha256(text).hexdigest(), "bytes": len(text)}


def main() -> int:
    notes, *words = sys.argv[1:]
    if "--version" in words or words[:1] == ["auth"]:
        os.write(1, b"2.1.200\n")
        return 0
    flags = [word for word in words if word.startswith("-")]
    prompts = [word for word in words if not word.startswith("-") and word not in ("ask-trust", "stay")]
    note(notes, argv=flags, cwd=os.getcwd(), env=dict(os.environ), pid=os.getpid())
    if "--fail" in flags:
        return 9
    if prompts:
        note(notes, by="argument", **given(os.fsencode(prompts[0])))
        return stay() if "stay" in words else 0
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        if "ask-trust" in words:
            ask_trust(notes)
        read_paste(notes)
    finally:
        termios.tcsetattr(0, termios.TCSANOW, before)
    return stay() if "stay" in words else 0


def stay() -> int:
    while os.read(0, 65536):
        continue
    return 0


def ask_trust(notes: str) -> None:
    os.write(1, b"\x1b[?2004h\x1b[2J\x1b[HDo you trust this folder?\r\n> 1. Yes\r\n  2. No, exit\r\nchoose ")
    key = os.read(0, 65536)
    note(notes, trust=key.decode())
    os.write(1, b"\x1b[2J\x1b[H")


def read_paste(notes: str) -> None:
    os.write(1, b"\x1b[?2004h> ")
    got = b""
    while ENDS not in got:
        got += os.read(0, 65536)
    text, after = got.split(ENDS)
    before, text = text.split(BEGINS)
    note(notes, by="paste", before=before.decode(), **given(text))
    os.write(1, b"[Pasted text, %d bytes]" % len(text))
    after = after or os.read(0, 65536)
    note(notes, key=after.decode())


sys.exit(main())
