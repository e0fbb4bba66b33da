"""Follows one session until our prompt's turn ends: prints it, asks for answers, interrupts it."""

import asyncio
import sys
from contextlib import aclosing

from bascule.client import Client
from bascule.commands import exits
from bascule.commands.answering import Answerer, Asked
from bascule.commands.console import Console, Keyboard
from bascule.commands.request_prompt import command_line, elsewhere, permission_text, question_text
from bascule.commands.screen import print_json
from bascule.commands.transcript import Transcript
from bascule.model.codec import Logged, decode_event, encode_logged
from bascule.model.errors import BasculeError
from bascule.model.events import (
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptQueued,
    PromptSent,
    PromptWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    SessionEnded,
    SessionFailed,
    TurnEnded,
)
from bascule.policy.visible import sanitize

# Refusals after which there is nothing left to answer; after any other the person is asked again.
SETTLED_CODES = ("ALREADY_ANSWERED", "REQUEST_WITHDRAWN", "REQUEST_NOT_FOUND", "SESSION_ENDED", "FORBIDDEN")


class Conversation:
    def __init__(
        self, client: Client, session_id: str, terminal: Console, message_id: str, *, as_json: bool = False
    ) -> None:
        self.detached = False
        self._client = client
        self._session_id = session_id
        self._terminal = terminal
        self._transcript = Transcript(terminal)
        self._answerer = Answerer(client, terminal, Keyboard())
        self._message_id = message_id
        self._as_json = as_json
        self._prompt_id = ""
        self._our_turn = False
        self._open: dict[str, Asked] = {}
        self._asking: tuple[str, asyncio.Task[None]] | None = None
        self._interrupting: asyncio.Task[None] | None = None

    async def follow(self, after: int) -> int:
        """Until the turn of our prompt is over; the exit status says how it went."""
        try:
            if after:
                await self._take_open_requests()
            following = self._client.events(self._session_id, after, on_resync=_say_aside)
            async with aclosing(following) as events:
                async for logged in events:
                    self._show(logged)
                    self._keep_requests(logged)
                    code = self._code_after(logged)
                    if code is not None:
                        return code
            return exits.FAILED
        finally:
            await self._stop_asking()
            self._terminal.release()

    def interrupt(self) -> bool:
        """Stop the turn. False when that was already asked for."""
        if self._interrupting is not None:
            return False
        print("\nInterrupting; Ctrl-C again leaves the session running.", file=sys.stderr)
        self._interrupting = asyncio.create_task(self._interrupt(), name="interrupt")
        return True

    def say_detached(self) -> None:
        self.detached = True
        print(
            f"Left running. Stop it with: {command_line('sessions', 'end', self._session_id)}\n"
            f'Continue with: {command_line("run", "--resume", self._session_id)} "…"',
            file=sys.stderr,
        )

    async def _interrupt(self) -> None:
        try:
            await self._client.interrupt(self._session_id)
        except BasculeError as error:
            print(sanitize(error.message), file=sys.stderr)

    def _show(self, logged: Logged) -> None:
        if self._as_json:
            print_json(encode_logged(logged.seq, logged.at, logged.event))
        else:
            self._transcript.show(logged)

    def _code_after(self, logged: Logged) -> int | None:
        event = logged.event
        match event:
            case PromptQueued() | PromptSent() if event.client_message_id == self._message_id:
                self._prompt_id = event.prompt_id
                self._our_turn = isinstance(event, PromptSent)
            case PromptWithdrawn() if event.prompt_id == self._prompt_id:
                return exits.FAILED
            case TurnEnded() if self._our_turn:
                codes = {"end_turn": exits.OK, "interrupted": exits.INTERRUPTED}
                return codes.get(event.stop_reason, exits.FAILED)
            case SessionEnded() | SessionFailed():
                return exits.FAILED
            case _:
                pass
        return None

    # What waits for the person ----------------------------------------------------------------------

    async def _take_open_requests(self) -> None:
        for request in await self._client.requests():
            if request.session_id == self._session_id:
                asked = decode_event(bytes(request.asked))
                if isinstance(asked, PermissionRequested | QuestionAsked):
                    self._opened(asked)

    def _keep_requests(self, logged: Logged) -> None:
        event = logged.event
        match event:
            case PermissionRequested() | QuestionAsked():
                self._opened(event)
            case PermissionAnswered() | QuestionAnswered() | PermissionWithdrawn() | QuestionWithdrawn():
                self._settled(event.request_id)
            case _:
                pass

    def _opened(self, asked: Asked) -> None:
        if asked.request_id in self._open:
            return
        self._open[asked.request_id] = asked
        if self._terminal.interactive:
            self._ask_next()
        else:
            self._tell(asked)

    def _tell(self, asked: Asked) -> None:
        """Nobody sits here: show what waits, and where it can be answered. Never answer it."""
        plain = Console(sys.stderr)
        if isinstance(asked, PermissionRequested):
            sys.stderr.write(permission_text(asked, plain, whole=True))
        else:
            sys.stderr.write("".join(question_text(question, plain) for question in asked.questions))
        sys.stderr.write(elsewhere(self._session_id, asked))
        sys.stderr.flush()

    def _settled(self, request_id: str) -> None:
        self._open.pop(request_id, None)
        if self._asking is not None and self._asking[0] == request_id:
            self._asking[1].cancel()
            self._asking = None
            self._terminal.say("\n")
            self._terminal.release()
        self._ask_next()

    def _ask_next(self) -> None:
        if self._asking is not None or not self._open or not self._terminal.interactive:
            return
        asked = next(iter(self._open.values()))
        self._terminal.hold()
        task = asyncio.create_task(self._ask(asked), name=f"ask {asked.request_id}")
        self._asking = (asked.request_id, task)

    async def _ask(self, asked: Asked) -> None:
        """Ask until the answer is taken. Its event, not our sending it, closes the question."""
        while True:
            try:
                await self._answerer.ask(self._session_id, asked)
            except BasculeError as error:
                self._terminal.say(f"{sanitize(error.message)}\n")
                if error.refusal().code not in SETTLED_CODES:
                    continue
            break
        self._terminal.release()

    async def _stop_asking(self) -> None:
        running = [self._asking[1]] if self._asking is not None else []
        if self._interrupting is not None:
            running.append(self._interrupting)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _say_aside(words: str) -> None:
    print(words, file=sys.stderr)
