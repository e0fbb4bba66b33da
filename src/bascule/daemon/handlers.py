"""The handler table: maps a command's type to the function that carries it out. Each part adds its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec import Struct

from bascule.model.commands import Command, Envelope

C = TypeVar("C", bound=Command[Any])
Run = Callable[[Envelope[C]], Awaitable[Struct]]
# What carrying it out would let agents do here without asking, as the end of "… does not let a hub".
# Empty when it widens nothing.
Widens = Callable[[C], str]


def widens_nothing(_: Command[Any]) -> str:
    return ""


@dataclass(frozen=True)
class Handler:
    """`run` and its preconditions; the host checks them in this order."""

    run: Run[Any]
    stores: bool = False  # refused while the disk is full
    once: bool = False  # a command with the same idempotency key gets the first one's answer
    begins: bool = False  # refused while the device is paused
    alone: bool = False  # one such command at a time
    reads: bool = False  # changes nothing, so it may be cut short when its caller no longer waits
    urgent: bool = False  # waits for no other command
    widens: Widens[Any] = widens_nothing  # needs this machine's owner when a hub elsewhere asks


class Handlers:
    def __init__(self) -> None:
        self._by_type: dict[type[Command[Any]], Handler] = {}

    def add(
        self,
        command: type[C],
        run: Run[C],
        *,
        stores: bool = False,
        once: bool = False,
        begins: bool = False,
        alone: bool = False,
        reads: bool = False,
        urgent: bool = False,
        widens: Widens[C] | None = None,
    ) -> None:
        """Every command says what it `widens`, but those that only read."""
        if command in self._by_type:
            raise ValueError(f"{command.__name__} has a handler already.")
        if widens is None:
            if not reads:
                raise ValueError(f"{command.__name__} does not say what it widens.")
            widens = widens_nothing
        self._by_type[command] = Handler(run, stores, once, begins, alone, reads, urgent, widens)

    def of(self, command: Command[Any]) -> Handler:
        return self.of_type(type(command))

    def of_type(self, command: type[Command[Any]]) -> Handler:
        return self._by_type[command]

    def __contains__(self, command: type[Command[Any]]) -> bool:
        return command in self._by_type
