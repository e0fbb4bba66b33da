"""The words of commands on the wire, where they are not those of the structs.

The tag of a command is part of the hash that guards its idempotency key, which is stored: so the structs keep
their tags, and only the link says another word.
"""

from typing import Any, cast, get_args

import msgspec
from msgspec import Raw, Struct

from bascule.link.frame import Whole
from bascule.link.frames import Ask, DeviceCommand
from bascule.model.commands import Actor, AnswerPermission, AnswerQuestion, Command, Interrupt, SendPrompt
from bascule.model.events import snake
from bascule.model.validation import in_words

AnyCommand = Command[Any]

ON_THE_WIRE: dict[type[AnyCommand], str] = {
    SendPrompt: "send_input",
    Interrupt: "interrupt_session",
    AnswerPermission: "permission_response",
    AnswerQuestion: "question_response",
}


class AskOnWire(Struct, frozen=True, tag_field="type", tag="ask", omit_defaults=True):
    """`Ask` with its command still, or already, as bytes."""

    ask: Whole
    command: Raw
    by: Actor
    key: str | None = None
    deadline_ms: Whole | None = None


class UnknownAsk(Struct, frozen=True):
    """A command that this version does not know, or not with these fields: to be refused as not supported."""

    ask: int
    type: str
    problem: str  # a sentence


class _Typed(Struct):
    type: str


def word(command: type[AnyCommand]) -> str:
    """How a command is called on the wire."""
    return ON_THE_WIRE.get(command) or str(command.__struct_config__.tag)


def _read_as(command: type[AnyCommand]) -> type[AnyCommand]:
    """The struct to decode with: the command itself, or a twin whose tag is the word on the wire."""
    if command not in ON_THE_WIRE:
        return command
    twin = msgspec.defstruct(command.__name__, [], bases=(command,), tag=ON_THE_WIRE[command], frozen=True)
    return cast("type[AnyCommand]", twin)


COMMANDS: dict[str, type[AnyCommand]] = {word(arg): arg for arg in get_args(DeviceCommand)}
_decoders = {name: msgspec.json.Decoder(_read_as(command)) for name, command in COMMANDS.items()}
_type = msgspec.json.Decoder(_Typed)
_encoder = msgspec.json.Encoder()
# msgspec writes a struct's tag first.
_openings = {
    command: (len(b'{"type":"%s"' % snake(command.__name__).encode()), b'{"type":"%s"' % name.encode())
    for command, name in ON_THE_WIRE.items()
}


def to_wire(ask: Ask) -> Ask | AskOnWire:
    opening = _openings.get(type(ask.command))
    if opening is None:
        return ask
    length, other = opening
    command = Raw(other + _encoder.encode(ask.command)[length:])
    return AskOnWire(ask.ask, command, ask.by, ask.key, ask.deadline_ms)


def from_wire(asked: AskOnWire) -> Ask | UnknownAsk:
    """Raises what msgspec raises for a command that is not even an object with a type."""
    name = _type.decode(asked.command).type
    decoder = _decoders.get(name)
    if decoder is None:
        return UnknownAsk(asked.ask, name[:80], "There is no such command.")
    try:
        command: Any = decoder.decode(asked.command)
    except msgspec.ValidationError as error:
        return UnknownAsk(asked.ask, name, in_words(error))
    kind = COMMANDS[name]
    if type(command) is not kind:
        command = kind(**{field: getattr(command, field) for field in kind.__struct_fields__})
    return Ask(asked.ask, cast("DeviceCommand", command), asked.by, asked.key, asked.deadline_ms)
