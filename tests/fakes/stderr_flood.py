"""`stderr_flood.py N`: writes N bytes to stderr in the middle of an ordinary turn."""

import sys

from speech import behave, heard, init, number, result, say

heard()
init()
say("before the flood", "msg_before")
left = number(1, 100 * 1024 * 1024)
while left > 0:
    left -= sys.stderr.buffer.write((b"e" * 79 + b"\n") * 1000)
sys.stderr.buffer.flush()
say("after the flood", "msg_after")
result()
behave()
