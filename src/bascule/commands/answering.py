"""Shows an open request in this terminal and sends the person's answer."""

from bascule.client import Client
from bascule.commands.console import Console, Keyboard
from bascule.commands.request_prompt import (
    permission_keys,
    permission_text,
    question_keys,
    question_text,
    read_answer,
    read_permission_answer,
)
from bascule.model.errors import BasculeError
from bascule.model.events import PermissionRequested, QuestionAsked

Asked = PermissionRequested | QuestionAsked


class Answerer:
    def __init__(self, client: Client, console: Console, keyboard: Keyboard) -> None:
        self._client = client
        self._console = console
        self._keyboard = keyboard

    async def ask(self, session_id: str, asked: Asked) -> None:
        """Show it, wait for an answer that means one, send it. Closed stdin leaves it open."""
        self._keyboard.forget_typed_ahead()
        if isinstance(asked, PermissionRequested):
            await self._permission(session_id, asked)
        else:
            await self._questions(session_id, asked)

    async def _permission(self, session_id: str, asked: PermissionRequested) -> None:
        machine = await self._only_once(session_id)
        once = bool(machine)
        self._console.say(permission_text(asked, self._console, only_once=machine))
        while (typed := await self._typed(permission_keys(asked, only_once=once))) is not None:
            if typed.strip().lower() == "v":
                self._console.say(permission_text(asked, self._console, whole=True, only_once=machine))
                continue
            answer = read_permission_answer(typed, asked, only_once=once)
            if answer is None:
                self._console.say("Nothing was answered. ")
                continue
            await self._client.answer(
                session_id,
                asked.request_id,
                answer.decision,
                input_sha256=asked.input_sha256,
                option=answer.option,
                remember=answer.remember,
                message=answer.message,
            )
            return

    async def _only_once(self, session_id: str) -> str:
        """The name of a machine that takes one answer for one request from here; empty when it takes more."""
        try:
            refusing = {one.device: one.name for one in await self._client.devices() if one.owner_only}
            device = (await self._client.session(session_id)).device if refusing else ""
        except BasculeError:  # a token for one session may not look; the machine says itself what it refuses
            return ""
        return refusing.get(device, "")

    async def _questions(self, session_id: str, asked: QuestionAsked) -> None:
        answers: dict[str, str] = {}
        for question in asked.questions:
            self._console.say(question_text(question, self._console))
            answer = None
            while answer is None:
                typed = await self._typed(question_keys(question))
                if typed is None:
                    return
                if typed.strip() == "-":
                    await self._client.answer_question(
                        session_id,
                        asked.request_id,
                        {},
                        input_sha256=asked.input_sha256,
                        message="The user declined to answer.",
                    )
                    return
                answer = read_answer(typed, question)
            answers[question.question] = answer
        await self._client.answer_question(
            session_id, asked.request_id, answers, input_sha256=asked.input_sha256
        )

    async def _typed(self, keys: str) -> str | None:
        self._console.say(keys)
        return await self._keyboard.line()
