"""Answers to requests of a machine that is away: kept, and given to it when it says hello.

The machine decides, as always: it may refuse, because the request was answered there, or is no longer open. A
machine that gets the same answer twice takes it once, so one whose reply was lost is sent again.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from bascule.api.request_answers import AnswerGiven
from bascule.hub.devices.asking import answered
from bascule.hub.devices.device_line import DeviceLine
from bascule.hub.devices.switchboard import Switchboard
from bascule.hub.door.roles import Forbidden
from bascule.model.codec import encode, timestamp
from bascule.model.commands import Actor, AnswerPermission, AnswerQuestion, Command
from bascule.model.errors import AlreadyAnswered, BasculeError, CallerError, DeviceOffline, StorageFailed
from bascule.model.records import RequestRecord
from bascule.policy.answer_checks import (
    asked_permission,
    asked_question,
    check_open,
    permission_answer,
    question_answer,
)
from bascule.store.answers import AnswerBook, AnswerState, WaitingAnswer
from bascule.store.base import AuditRecord
from bascule.store.grants import Grant, GrantBook
from bascule.store.protocols import HubStore

log = logging.getLogger("bascule.hub")

AnyAnswer = AnswerPermission | AnswerQuestion
ANSWER_SECONDS = 60.0  # that a machine has to take it; then it stays for the next hello
LONGEST_SLEEP = 60.0  # seconds until the clock is looked at again
REVOKED = "the grant it was given with no longer holds."
REMOVED = "the machine was removed."
UNREADABLE = "another version of this server wrote it."

_commands = msgspec.json.Decoder[AnyAnswer](AnyAnswer)


class AnswerNotFound(CallerError):
    code = "ANSWER_NOT_FOUND"


class AnswerNotWaiting(CallerError):
    """It was sent, or settled: too late to take it back."""

    code = "ANSWER_NOT_WAITING"


class WaitingAnswers:
    """`allow_seconds`: how long an allow may wait; 0 for not at all. `changed` tells the pages."""

    def __init__(
        self,
        board: Switchboard,
        book: AnswerBook,
        store: HubStore,
        grants: GrantBook,
        *,
        allow_seconds: float,
        changed: Callable[[], None],
    ) -> None:
        self.book = book
        self._board = board
        self._store = store
        self._grants = grants
        self._allow_seconds = allow_seconds
        self._changed = changed
        board.on_hello(self._deliver)
        grants.on_revoked(self._revoked)
        for answer in book.waiting():
            self._expire_in_time(answer)

    # Giving

    async def give(self, device: str, command: AnyAnswer, by: Actor, key: str | None = None) -> AnswerGiven:
        """To the machine if it is there; otherwise the answer waits for it. Raises as the machine would."""
        if not self._board.is_connected(device):
            request = await self._check(command, by)
            if not self._board.is_connected(device):
                if self._may_wait(command):
                    return await self._keep(device, command, by, request)
                return await self._give_at_once(device, command, by, key)
        await self._board.ask(device, command, by, key)
        return AnswerGiven()

    async def _check(self, command: AnyAnswer, by: Actor) -> RequestRecord:
        """The copy of the request must show it as open, and the answer must be one of those it takes."""
        found = await self._store.request(command.session_id, command.request_id)
        match command:
            case AnswerPermission():
                request = check_open(found, command.request_id, "permission", command.input_sha256)
                permission_answer(asked_permission(request), command, by.name)
            case AnswerQuestion():
                request = check_open(found, command.request_id, "question", command.input_sha256)
                question_answer(asked_question(request), command, by.name)
        return request

    def _may_wait(self, command: AnyAnswer) -> bool:
        return _decision(command) != "allow" or self._allow_seconds > 0

    async def _give_at_once(self, device: str, command: AnyAnswer, by: Actor, key: str | None) -> AnswerGiven:
        """An allow that may not wait has only the moment in which a lost machine may come back."""
        try:
            await self._board.ask(device, command, by, key)
        except DeviceOffline as error:
            words = "An allow does not wait for a machine here (`allow_waits_seconds` is 0); a deny does."
            raise DeviceOffline(f"{error.message} {words}", **error.fields) from None
        return AnswerGiven()

    async def _keep(self, device: str, command: AnyAnswer, by: Actor, request: RequestRecord) -> AnswerGiven:
        self._expire()
        # What is waited with is bound to the input that the copy shows, also if the sender named none.
        command = replace(command, input_sha256=request.input_sha256)
        body = encode(command)
        known = self.book.find(command.session_id, command.request_id)
        if known is not None:
            if known.by.grant_id != by.grant_id or known.body != body:
                raise AlreadyAnswered(
                    known.request_id, by=known.by.name, at=known.made_at, decision=known.decision
                )
            return self._given(known)
        answer = WaitingAnswer(
            id=secrets.token_hex(8),
            device=device,
            session_id=command.session_id,
            request_id=command.request_id,
            input_sha256=request.input_sha256,
            decision=_decision(command),
            body=body,
            by=by,
            made_at=self._now(),
            expires_at=self._grants.clock() + self._allow_seconds if _decision(command) == "allow" else None,
        )
        await self.book.add(answer, _audit(answer, f"waits for {self._name(device)}"))
        self._expire_in_time(answer)
        self._changed()
        return self._given(answer)

    def _given(self, answer: WaitingAnswer) -> AnswerGiven:
        done = {"allow": "Allowed", "deny": "Denied"}.get(answer.decision, "Answered")
        words = f"{done}; {self._name(answer.device)} has not heard it yet."
        if answer.expires_at is not None:
            words += f" It is applied only if the machine is back within {self._patience}."
        return AnswerGiven(waits=True, answer_id=answer.id, message=words)

    @property
    def _patience(self) -> str:
        whole = round(self._allow_seconds)
        return f"{whole // 60} minutes" if whole % 60 == 0 and whole > 60 else f"{whole} seconds"

    # Delivering

    def _deliver(self, line: DeviceLine) -> None:
        """The machine is there again. What was sent before and had no reply is sent once more."""
        for answer in self.book.waiting():
            if answer.device == line.device and not self._lapsed(answer):
                self._send(line, answer)

    def _send(self, line: DeviceLine, answer: WaitingAnswer) -> None:
        try:
            command = _commands.decode(answer.body)
        except msgspec.MsgspecError:
            self._settle(answer, "refused", _not_applied(answer, UNREADABLE))
            return
        by = replace(answer.by, given_at=answer.made_at)
        number, reply = line.begin(command, by, None, ANSWER_SECONDS)
        sent = self.book.note_sent(answer, self._now())
        asked = answered(line, cast("Command[Any]", command), number, reply, ANSWER_SECONDS)
        asking = self._board.spawn(asked, f"answer {answer.id}")
        asking.add_done_callback(lambda done: self._heard(done, sent))

    def _lapsed(self, answer: WaitingAnswer) -> bool:
        """Whether it may no longer be applied; says so, then."""
        if answer.expires_at is not None and self._grants.clock() >= answer.expires_at:
            self._settle(answer, "expired", self._too_old(answer))
        elif self._grants.get(answer.by.grant_id) is None:
            self._settle(answer, "revoked", _not_applied(answer, REVOKED))
        else:
            return False
        return True

    def _too_old(self, answer: WaitingAnswer) -> str:
        return _not_applied(answer, f"an allow waits {self._patience} for its machine. Answer again.")

    def _heard(self, asking: "asyncio.Task[Any]", answer: WaitingAnswer) -> None:
        if asking.cancelled() or isinstance(error := asking.exception(), DeviceOffline):
            return  # it stays for the next time
        name = self._name(answer.device)
        if error is None:
            self._settle(answer, "applied", f"{name} heard it at {self._now()}.")
        elif isinstance(error, BasculeError):
            self._settle(answer, "refused", f"{name} did not take it: {error.message}")
        else:
            self._settle(answer, "refused", f"The reply of {name} can't be read; the session shows it.")

    # Ending

    async def take_back(self, answer_id: str, session_id: str, by: Actor, grant: Grant) -> None:
        """By who gave it, or the owner; as long as it has not been sent."""
        answer = self.book.get(answer_id)
        if answer is None or answer.session_id != session_id:
            raise AnswerNotFound("There is no such answer.")
        if not may_take_back(answer, grant):
            raise Forbidden("Only who gave this answer, or the owner, may take it back.")
        if answer.state != "waiting":
            raise AnswerNotWaiting(f"It no longer waits. {answer.outcome}")
        if answer.sent_at:
            name = self._name(answer.device)
            raise AnswerNotWaiting(f"It was sent to {name} at {answer.sent_at}; {name} has not replied yet.")
        writing = self._settle(answer, "taken_back", f"It was taken back by {by.name}.", by)
        try:
            if writing is not None:
                await asyncio.shield(writing)
        except StorageFailed:
            self.book.wait_again(answer)
            self._changed()
            raise

    def forget(self, device: str) -> None:
        """The machine was taken off the list."""
        for answer in self.book.waiting():
            if answer.device == device:
                self._settle(answer, "refused", _not_applied(answer, REMOVED))

    def _revoked(self, grant: Grant) -> None:
        for answer in self.book.waiting():
            if answer.by.grant_id == grant.id and not answer.sent_at:
                self._settle(answer, "revoked", _not_applied(answer, REVOKED))

    def reloaded(self) -> None:
        """Other nodes have changed the book. One that did not know yet that a machine is back, here, has kept
        an answer for it: only this node gives it to the machine."""
        self._expire()
        here = {line.device: line for line in self._board.own_lines()}
        for answer in self.book.waiting():
            if answer.device in here and not answer.sent_at and not self._lapsed(answer):
                self._send(here[answer.device], answer)
        self._changed()

    def _expire_in_time(self, answer: WaitingAnswer) -> None:
        if answer.expires_at is not None:
            self._board.spawn(self._expire_at(answer.expires_at), f"expiry of {answer.id}")

    async def _expire_at(self, at: float) -> None:
        # A timer may fire a moment early, and somebody may set the clock back meanwhile.
        while (seconds := at - self._grants.clock()) > 0:  # noqa: ASYNC110 - a time of day is no event
            await asyncio.sleep(min(max(seconds, 0.001), LONGEST_SLEEP))
        self._expire()

    def _expire(self) -> None:
        """Settle allows that are too old and were not sent; those are settled by the machine's next hello."""
        now = self._grants.clock()
        for answer in self.book.waiting():
            if answer.expires_at is not None and now >= answer.expires_at and not answer.sent_at:
                self._settle(answer, "expired", self._too_old(answer))

    def _settle(
        self, answer: WaitingAnswer, state: AnswerState, outcome: str, by: Actor | None = None
    ) -> "asyncio.Future[None] | None":
        """Done once it is on the disk; nothing if the answer did not wait any more."""
        known = self.book.get(answer.id)
        if known is None or known.state != "waiting":
            return None
        detail = f"given at {answer.made_at}, {state.replace('_', ' ')}: {outcome}"
        writing = self.book.settle(known, state, outcome, self._now(), _audit(known, detail, by))
        self._changed()
        return writing

    def _now(self) -> str:
        return timestamp(self._board.clock())

    def _name(self, device: str) -> str:
        status = self._board.status(device)
        return device if status is None else status.name


def may_take_back(answer: WaitingAnswer, grant: Grant) -> bool:
    return grant.id == answer.by.grant_id or grant.role == "owner"


def _decision(command: AnyAnswer) -> str:
    return command.decision if isinstance(command, AnswerPermission) else "answered"


def _not_applied(answer: WaitingAnswer, why: str) -> str:
    if not answer.sent_at:
        return f"It was not applied: {why}"
    lost = f"It was sent at {answer.sent_at} and no reply came: the session shows whether it was applied."
    return f"{lost} It is not sent again: {why}"


def _audit(answer: WaitingAnswer, detail: str, by: Actor | None = None) -> AuditRecord:
    action = "question" if answer.decision == "answered" else "permission"
    return replace(
        AuditRecord.of(by or answer.by, action, answer.session_id, detail),
        request_id=answer.request_id,
        decision=answer.decision,
        input_sha256=answer.input_sha256,
    )
