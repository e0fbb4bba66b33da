"""Writes JSON-RPC messages, one per line."""

from collections.abc import Mapping

import msgspec
from msgspec import Raw

_json = msgspec.json.Encoder()


class MessageWriter:
    """With or without the `jsonrpc` version field, which Codex leaves out."""

    def __init__(self, *, version: bool = True) -> None:
        self._head: dict[str, object] = {"jsonrpc": "2.0"} if version else {}

    def request(self, number: int, method: str, params: Mapping[str, object]) -> bytes:
        return self._line({**self._head, "id": number, "method": method, "params": params})

    def notification(self, method: str, params: Mapping[str, object] | None = None) -> bytes:
        said: dict[str, object] = {**self._head, "method": method}
        if params is not None:
            said["params"] = params
        return self._line(said)

    def result(self, rpc_id: Raw, result: object) -> bytes:
        return self._line({**self._head, "id": rpc_id, "result": result})

    def error(self, rpc_id: Raw, code: int, message: str) -> bytes:
        return self._line({**self._head, "id": rpc_id, "error": {"code": code, "message": message}})

    def _line(self, message: Mapping[str, object]) -> bytes:
        return _json.encode(message) + b"\n"
