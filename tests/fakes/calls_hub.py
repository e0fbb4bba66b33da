"""`calls_hub.py FOLDER`: at each prompt, makes the requests in FOLDER/plan and notes the answers to them."""

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

from speech import heard, init, result, say

folder = Path(sys.argv[1])
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def status(url: str, method: str, body: object, token: str) -> int:
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    try:
        with direct.open(urllib.request.Request(url, data, headers, method=method)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


while (message := heard()) is not None:
    if message.get("type") == "user":
        init()
        if (folder / "plan").exists():
            plan = json.loads((folder / "plan").read_text())
            done = [
                [method, path, [status(plan["url"] + path, method, body, token) for token in plan["tokens"]]]
                for method, path, body in plan["requests"]
            ]
            (folder / "answers").write_text(json.dumps({"statuses": done, "environment": dict(os.environ)}))
        say("done")
        result()
