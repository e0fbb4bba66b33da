"""`noise.py MEGABYTES`: answers with so much text that can't be made smaller."""

import base64
import os

from speech import heard, init, number, result, say

PIECE = 48 * 1024  # 64 KiB as text

while (message := heard()) is not None:
    if message.get("type") == "user":
        init()
        for piece in range(number(1, 1) * 16):
            say(base64.b64encode(os.urandom(PIECE)).decode(), f"msg_{piece}")
        result()
