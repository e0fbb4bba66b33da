"""`floods_both.py OUT ERR`: in one turn writes that many bytes to stdout and to stderr, both at once."""

import json
import sys
import threading

from speech import behave, heard, init, number, result, say

heard()
init()
say("before the flood", "msg_before")
out, err = number(1, 80 * 1024 * 1024), number(2, 100 * 1024 * 1024)


def flood_err() -> None:
    left = err
    while left > 0:
        left -= sys.stderr.buffer.write((b"e" * 79 + b"\n") * 1000)
    sys.stderr.buffer.flush()


def flood_out() -> None:
    line = json.dumps({"type": "system", "subtype": "status", "padding": "o" * 65_000}) + "\n"
    for _ in range(out // len(line)):
        sys.stdout.write(line)
    sys.stdout.flush()


threads = [threading.Thread(target=flood) for flood in (flood_err, flood_out)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
say("after the flood", "msg_after")
result()
behave()
