"""`empty_lines.py N`: sends N empty lines in the middle of a turn, then goes on."""

import sys

from speech import behave, heard, init, number, result, say

heard()
init()
left = number(1, 1_000_000)
while left > 0:
    left -= sys.stdout.buffer.write(b"\n" * min(left, 65536))
sys.stdout.buffer.flush()
say("after the empty lines")
result()
behave()
