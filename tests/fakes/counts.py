"""`counts.py LEDGER`: says numbers until LEDGER.stop is there; each is on disk before it is said."""

import os
import sys
import time

from speech import heard, init, result, say

SECONDS = 0.015
ledger = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

while (message := heard()) is not None:
    if message.get("type") == "user":
        init()
        n = 0
        while not os.path.exists(f"{sys.argv[1]}.stop"):
            n += 1
            os.write(ledger, f"{n}\n".encode())
            os.fsync(ledger)
            say(f"{n} ", f"msg_{n}")
            time.sleep(SECONDS)
        result()
