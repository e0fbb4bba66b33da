"""Answers to requests; those given while the request's machine is away wait for it."""

from bascule.api.bodies import AnswerNamed
from bascule.api.request_answers import AnswerGiven, AnswerList, AnswerView, WaitingAnswerView
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.devices.waiting_answers import may_take_back
from bascule.hub.services import Hub
from bascule.model.codec import timestamp
from bascule.model.commands import AnswerPermission, AnswerQuestion, Done
from bascule.store.answers import WaitingAnswer

ONE = "/api/sessions/{session_id}"


async def give(call: Call[AnswerPermission] | Call[AnswerQuestion]) -> AnswerGiven:
    await call.hub.switchboard.met()
    return await call.hub.answers.give(call.target, call.body, call.by, call.key)


async def list_answers(call: AnyCall) -> AnswerList:
    """Those that wait, and what became of the latest others."""
    records = call.hub.feed.records
    views: list[AnswerView] = []
    for answer in reversed(call.hub.answers.book.all()):
        record = await records.get(answer.session_id)
        status = call.hub.switchboard.status(answer.device)
        views.append(
            AnswerView(
                id=answer.id,
                device=answer.device,
                device_name=answer.device if status is None else status.name,
                session_id=answer.session_id,
                session_title="" if record is None else record.title,
                request_id=answer.request_id,
                decision=answer.decision,
                by=answer.by.name,
                at=answer.made_at,
                expires_at=None if answer.expires_at is None else timestamp(answer.expires_at),
                sent_at=answer.sent_at or None,
                state=answer.state,
                outcome=answer.outcome,
                settled_at=answer.settled_at or None,
                may_take_back=_may_take_back(answer, call),
            )
        )
    return AnswerList(answers=views)


def _may_take_back(answer: WaitingAnswer, call: AnyCall) -> bool:
    return answer.state == "waiting" and not answer.sent_at and may_take_back(answer, call.holder)


async def take_back(call: Call[AnswerNamed]) -> Done:
    await call.hub.answers.take_back(call.body.answer_id, call.body.session_id, call.by, call.holder)
    return Done()


def waiting_answer(hub: Hub, session_id: str, request_id: str) -> WaitingAnswerView | None:
    """The answer that waits for this request, as the inbox shows it."""
    answer = hub.answers.book.find(session_id, request_id)
    return None if answer is None else WaitingAnswerView(answer.decision, answer.by.name, answer.made_at)


OPERATIONS = (
    Operation(
        name="session:permission",
        method="POST",
        path=ONE + "/permissions",
        need="session_write",
        body=AnswerPermission,
        answer=AnswerGiven,
        run=give,
        summary="Allow or deny a tool; the answer waits if the machine is away",
        in_session=True,
    ),
    Operation(
        name="session:question",
        method="POST",
        path=ONE + "/questions",
        need="session_write",
        body=AnswerQuestion,
        answer=AnswerGiven,
        run=give,
        summary="Answer or decline a question; the answer waits if the machine is away",
        in_session=True,
    ),
    Operation(
        name="answers:list",
        method="GET",
        path="/api/answers",
        need="viewer",
        answer=AnswerList,
        run=list_answers,
        summary="List answers waiting for a machine, and the outcome of earlier ones, newest first",
    ),
    Operation(
        name="answers:take-back",
        method="DELETE",
        path=ONE + "/answers/{answer_id}",
        need="session_write",
        body=AnswerNamed,
        answer=Done,
        run=take_back,
        summary="Take back an answer that is waiting for its machine",
        in_session=True,
    ),
)
