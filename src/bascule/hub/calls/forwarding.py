"""Operations that are forwarded to a device: their parameters and answer are those of a command."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from bascule.api.pushes import ToEverybody
from bascule.hub.calls.call import Call
from bascule.hub.calls.operation import Operation
from bascule.model.commands import Command, SessionCommand, answer_type

A = TypeVar("A")


def forwarding(
    command: type[Command[Any]],
    *,
    seconds: float = 30,
    changed: ToEverybody | None = None,
    run: Callable[[Any], Awaitable[object]] | None = None,
    **declared: Any,
) -> Operation:
    """`seconds`: how long the device may take. `changed` is pushed to every page afterwards.

    `run` replaces what is done: for a command that needs a check before it goes to the device.
    """
    in_session = issubclass(command, SessionCommand)

    async def forward(call: Call[Command[A]]) -> A:
        answer = await call.ask(call.body, seconds=seconds)
        if changed is not None:
            call.hub.push(changed)
        return answer

    return Operation(
        body=command,
        answer=answer_type(command),
        run=run or forward,
        in_session=in_session,
        for_device=not in_session,
        **declared,
    )
