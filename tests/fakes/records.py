"""`records.py LEDGER`: notes the words it was started with and every line it hears, then answers."""

import json
import os
import sys

from speech import init, result, say, send

ledger = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def note(entry: dict[str, object]) -> None:
    os.write(ledger, json.dumps(entry).encode() + b"\n")


note({"argv": sys.argv[2:], "orig": sys.orig_argv[:3], "parent": os.getppid()})
for line in sys.stdin:
    message = json.loads(line)
    note({"heard": message})
    if message.get("type") == "user":
        init()
        say("noted")
        result()
    elif message.get("type") == "control_request":
        response = {"subtype": "success", "request_id": message["request_id"], "response": {}}
        send({"type": "control_response", "response": response})
