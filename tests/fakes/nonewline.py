"""`nonewline.py N`: sends N bytes without a newline, then ends the line and goes on."""

import sys

from speech import behave, heard, init, number, result, say

heard()
init()
left = number(1, 100 * 1024 * 1024)
while left > 0:
    left -= sys.stdout.buffer.write(b"n" * min(left, 65536))
sys.stdout.buffer.write(b"\n")
sys.stdout.buffer.flush()
say("after the endless line")
result()
behave()
