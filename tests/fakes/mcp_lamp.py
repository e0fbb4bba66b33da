"""A scripted MCP server on stdin and stdout, standard library only: two tools, and a log of each call.

    python mcp_lamp.py LOG

`switch` changes something and says nothing about itself. `peek` claims that it only reads: whether an agent
takes a server's word for that is what it is there to show.
"""

import json
import sys
from pathlib import Path

SCHEMA = {"type": "object", "properties": {"mark": {"type": "string"}}, "required": ["mark"]}
TOOLS = [
    {"name": "switch", "description": "Switches the lamp.", "inputSchema": SCHEMA},
    {
        "name": "peek",
        "description": "Says whether the lamp is on.",
        "inputSchema": SCHEMA,
        "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
    },
]
METHOD_NOT_FOUND = -32601


def main() -> None:
    log = Path(sys.argv[1])
    write(log, "started")
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked and "method" in asked:
            said = {
                "jsonrpc": "2.0",
                "id": asked["id"],
                **answer(asked["method"], asked.get("params") or {}, log),
            }
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


def answer(method: str, params: dict, log: Path) -> dict:
    match method:
        case "initialize":
            version = params.get("protocolVersion", "2025-06-18")
            facts = {"serverInfo": {"name": "lamp", "version": "1.0.0"}, "capabilities": {"tools": {}}}
            return {"result": {"protocolVersion": version, **facts}}
        case "tools/list":
            return {"result": {"tools": TOOLS}}
        case "tools/call":
            mark = (params.get("arguments") or {}).get("mark", "")
            write(log, f"{params.get('name')} {mark}")
            return {"result": {"content": [{"type": "text", "text": f"lamp {params.get('name')} {mark}"}]}}
        case "ping":
            return {"result": {}}
        case _:
            return {"error": {"code": METHOD_NOT_FOUND, "message": f"no {method} here"}}


def write(log: Path, line: str) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


if __name__ == "__main__":
    main()
