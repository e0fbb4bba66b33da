"""Asks devices: each command gets one answer or an error, also when the connection is cut meanwhile."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import msgspec

from bascule.hub.devices.device_line import DeviceLine
from bascule.model.commands import (
    Actor,
    AnswerPermission,
    AnswerQuestion,
    ArchiveSession,
    Command,
    EndSession,
    RenameSession,
    SendPrompt,
    StartSession,
    answer_type,
)
from bascule.model.errors import DeviceOffline

A = TypeVar("A")
GRACE_SECONDS = 10.0  # after a device was lost, in which commands wait for it to come back
# A daemon that was restarted has these on its disk, or does the same once more without harm.
SAFE_AFTER_RESTART = (
    StartSession,
    SendPrompt,
    AnswerPermission,
    AnswerQuestion,
    RenameSession,
    ArchiveSession,
    EndSession,
)


class Board(Protocol):
    """What asking needs of the switchboard."""

    steady: Callable[[], float]

    def is_connected(self, device: str) -> bool: ...
    def line(self, device: str) -> DeviceLine: ...


@dataclass(frozen=True)
class Lost:
    """A device whose line is over. Commands wait for `back` a little while."""

    at: float  # on the steady clock
    back: asyncio.Event = field(default_factory=asyncio.Event)


class Asking:
    def __init__(self, board: Board, grace: float) -> None:
        self._board = board
        self._grace = grace
        self._lost: dict[str, Lost] = {}

    def lost(self, device: str) -> None:
        self._lost[device] = Lost(self._board.steady())

    def wake(self, device: str) -> None:
        """The device is back, or will not come: those who wait for it look again."""
        lost = self._lost.pop(device, None)
        if lost is not None:
            lost.back.set()

    async def ask(self, device: str, command: Command[A], by: Actor, key: str | None, seconds: float) -> A:
        """For a device that was lost just now it waits until the device is back.

        A command whose connection is cut before its answer goes out again on the next one, with the same
        key: a device that has carried it out gives the answer it gave before.
        """
        until = self._board.steady() + seconds
        line = await self._reached(device, until)
        if not line.in_memory:
            key = key or f"hub-{secrets.token_hex(8)}"
        while True:
            try:
                return await ask_by(line, command, by, key, seconds=until - self._board.steady())
            except DeviceOffline:
                safe = isinstance(command, SAFE_AFTER_RESTART)
                if key is None or not (safe or line.remembers_answers):
                    raise
                following = await self._following(device, line, until)
                if following is None or not (safe or following.is_of_same_process(line)):
                    raise  # with its own words: it may have been carried out
                line = following

    async def _following(self, device: str, line: DeviceLine, until: float) -> DeviceLine | None:
        """The line after one that is over, if that comes in time."""
        if not line.over or self._board.steady() >= until:
            return None
        try:
            return await self._reached(device, until)
        except DeviceOffline:
            return None

    async def _reached(self, device: str, until: float) -> DeviceLine:
        """The line of a device, or its next one if that comes in time. Raises `DeviceOffline`."""
        while not self._board.is_connected(device) and (lost := self._lost.get(device)) is not None:
            patience = min(lost.at + self._grace, until) - self._board.steady()
            if patience <= 0:
                break
            try:
                async with asyncio.timeout(patience):
                    await lost.back.wait()
            except TimeoutError:
                break
        return self._board.line(device)


async def ask_by(
    line: DeviceLine, command: Command[A], by: Actor, key: str | None = None, *, seconds: float
) -> A:
    number, answer = line.begin(command, by, key, seconds)
    result = await answered(line, command, number, answer, seconds)
    await line.shows(result)
    return result


async def answered(
    line: DeviceLine, command: Command[A], number: int, answer: "asyncio.Future[bytes]", seconds: float
) -> A:
    """The answer to a command that was sent."""
    try:
        async with asyncio.timeout(seconds):
            return msgspec.json.decode(await answer, type=answer_type(type(command)))
    except TimeoutError:
        raise DeviceOffline(f"The device did not answer within {seconds:.3g} seconds.") from None
    finally:
        line.leave(number)
