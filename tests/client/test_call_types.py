"""Every call of the Python client against the operation it names: its body, and the type of its answer."""

import inspect
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest

from bascule.api.bodies import CreateBody
from bascule.client import calls, log_follower, prompts, rules, unlogged
from bascule.client.address import Address
from bascule.client.client import Client
from bascule.hub.calls.operation import Operation
from bascule.hub.calls.socket_messages import SocketMessage, decode_message
from bascule.hub.operation_table import operation_table
from bascule.model.rules import RuleSpec

TABLE = operation_table()
# Calls that ask nothing of the server by themselves.
OTHERS = {"connect", "local", "close", "look_again"}
VALUES: dict[Any, Any] = {
    str: "0" * 64,
    int: 1,
    float: 1.0,
    bool: True,
    dict[str, str]: {"Which one?": "This"},
    CreateBody: CreateBody(agent="demo", cwd="/srv", prompt="Hello"),
    RuleSpec: RuleSpec(answer="allow", tool_class="command", argv=("make",)),
}
NAMED: dict[str, Any] = {"mode": "relay", "role": "viewer", "path": "/srv", "folder": "/srv", "port": 8022}
CALLS = [
    (holder, name)
    for holder, kind in (
        ("", Client),
        ("rules", rules.ClientRules),
        ("prompts", prompts.ClientPrompts),
        ("unlogged", unlogged.ClientUnlogged),
    )
    for name, member in inspect.getmembers(kind, inspect.isfunction)
    if not name.startswith("_") and name not in OTHERS
]


class Asked(Exception):
    """Ends a call where it would read the answer."""


class Recorder:
    """Stands where the connection is: notes what a call asks and as what it would read the answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kind, self.fields, self.answer = "", dict[str, Any](), None
        self.client = Client(Address("http://127.0.0.1:1", "key"))
        for holder in (self.client, self.client._follower):
            monkeypatch.setattr(holder, "_request", self._request)
        for holder in (self.client.rules, self.client.prompts, self.client.unlogged):
            monkeypatch.setattr(holder, "_ask", self._request)
        for module in (calls, log_follower):
            monkeypatch.setattr(module, "decoded", lambda kind, reply, result: self._read(result))
        for module in (rules, prompts, unlogged):
            monkeypatch.setattr(module, "json", self)

    async def _request(self, kind: str, fields: dict[str, Any]) -> bytes:
        self.kind = kind
        self.fields = {name: value for name, value in fields.items() if value is not None}
        return b"{}"

    def decode(self, reply: bytes, *, type: Any) -> Any:
        self._read(type)

    def _read(self, answer: Any) -> Any:
        self.answer = answer
        raise Asked

    async def play(self, call: Callable[..., Any], given: dict[str, Any]) -> None:
        asking = call(**given)
        try:
            if inspect.isasyncgen(asking):
                await anext(asking)
            else:
                await asking
        except Asked:
            pass

    @property
    def message(self) -> SocketMessage:
        """What was asked, as the hub reads it."""
        return decode_message(TABLE, msgspec.json.encode({**self.fields, "type": self.kind, "id": 1}))


def value_for(name: str, kind: Any) -> Any:
    given = next((part for part in get_args(kind) if type(None) in get_args(kind)), kind)
    if get_origin(given) is Literal:
        return get_args(given)[0]
    return NAMED[name] if name in NAMED else VALUES[given]


def arguments_of(call: Callable[..., Any]) -> list[dict[str, Any]]:
    """Those that it needs; then each other one beside them, and all of them."""
    hints = get_type_hints(call)
    needed: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for parameter in inspect.signature(call).parameters.values():
        if parameter.name != "on_resync":
            value = value_for(parameter.name, hints[parameter.name])
            if isinstance(parameter.default, bool):
                value = not parameter.default
            (needed if parameter.default is parameter.empty else others)[parameter.name] = value
    return [needed, *(needed | {name: value} for name, value in others.items()), needed | others]


def read_by(operation: Operation, answer: Any) -> bool:
    """Whether what the client reads as `answer` is what the operation answers."""
    if answer is None or answer == dict[str, Any] or answer == operation.answer:
        return True
    whole, part = fields_of(operation.answer), fields_of(answer)
    if operation.answer_key:
        return part == {operation.answer_key: operation.answer}
    return bool(part) and part.items() <= whole.items()


def fields_of(kind: Any) -> dict[str, Any]:
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return {}
    hints = get_type_hints(kind)
    return {each.encode_name: hints[each.name] for each in msgspec.structs.fields(kind)}


@pytest.mark.parametrize(
    ("holder", "name"), CALLS, ids=[f"{holder or 'client'}.{name}" for holder, name in CALLS]
)
async def test_a_call_is_taken_by_the_operation_it_names_and_reads_its_answer(
    holder: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(monkeypatch)
    call = getattr(getattr(recorder.client, holder) if holder else recorder.client, name)
    for given in arguments_of(call):
        await recorder.play(call, given)
        operation = recorder.message.operation
        assert read_by(operation, recorder.answer), (recorder.kind, recorder.answer, operation.answer)
