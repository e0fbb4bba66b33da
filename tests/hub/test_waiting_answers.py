"""Answers to requests of a machine that is away: kept, shown, taken back, and given to it when it is back."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from tests.hub.running_hub import RunningHub, ask, running_hub, until
from tests.hub.scripted_device import ScriptedDevice, append
from tests.waiting import PATIENCE

from bascule.link.machine import EndAll
from bascule.model.codec import encode, timestamp
from bascule.model.commands import Actor, AnswerPermission, AnswerQuestion
from bascule.model.errors import RequestWithdrawn, StorageFailed
from bascule.model.event_values import Question
from bascule.model.events import PermissionAnswered, QuestionAsked, SessionStarted
from bascule.store.answers import AnswerBook, WaitingAnswer
from bascule.store.base import AuditRecord

pytestmark = [pytest.mark.anyio, pytest.mark.row("R11")]

SHA = "0" * 64
ATTEMPTS: Iterator[int] = count(1)


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def back(attic: ScriptedDevice) -> None:
    attic.connect(boot="b", attempt=next(ATTEMPTS))


@asynccontextmanager
async def hub_with_attic(
    folder: Path, *, away: bool = True, **more: Any
) -> AsyncIterator[tuple[RunningHub, ScriptedDevice]]:
    """The attic has a session with an open request, and is away."""
    async with running_hub(folder, **more) as hub:
        attic = ScriptedDevice(hub.store, hub.services.switchboard, "device-2", "attic", lambda _: None)
        if await hub.store.session("s1") is None:
            begun = SessionStarted(
                agent="scripted", driver="stream_json", cwd="/tmp", by="ana", device="device-2"
            )
            await append(hub.store, "s1", begun)
            await hub.ask_permission("s1")
        if away:
            attic.line.closed()
        yield hub, attic


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def both(tmp_path: Path, clock: Clock) -> AsyncIterator[tuple[RunningHub, ScriptedDevice]]:
    async with hub_with_attic(tmp_path, clock=clock) as made:
        yield made


async def give(hub: RunningHub, decision: str, who: str = "owner", **more: Any) -> httpx.Response:
    body = {"requestId": "r1", "decision": decision, "inputSha256": SHA, **more}
    async with hub.client(hub.tokens[who]) as http:
        return await http.post("/api/sessions/s1/permissions", json=body)


async def listed(hub: RunningHub, who: str = "owner") -> list[dict[str, Any]]:
    async with hub.client(hub.tokens[who]) as http:
        answer = await http.get("/api/answers")
    assert answer.status_code == 200, answer.text
    return answer.json()["answers"]


async def settled(hub: RunningHub) -> dict[str, Any]:
    """The newest answer, once it no longer waits."""
    book = hub.services.answers.book
    await until(lambda: book.all() and book.all()[-1].state != "waiting")
    return (await listed(hub))[0]


async def inbox(hub: RunningHub) -> dict[str, Any]:
    async with hub.client(hub.tokens["owner"]) as http:
        (request,) = (await http.get("/api/requests")).json()["requests"]
    return request


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def answers_to(device: ScriptedDevice) -> list[Any]:
    return [one for one in device.commands if isinstance(one, AnswerPermission | AnswerQuestion)]


async def audit(hub: RunningHub) -> list[dict[str, Any]]:
    lines = [msgspec.json.decode(line)["entry"] for line in await hub.store.audit_lines()]
    return [one["record"] for one in lines if one["record"].get("request_id") == "r1"]


async def audited(hub: RunningHub, words: str) -> list[dict[str, Any]]:
    """What was written of the request, once the last of it has these words: they are said before that."""
    async with asyncio.timeout(PATIENCE):
        while words not in (found := await audit(hub))[-1]["detail"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return found


async def test_a_deny_waits_and_arrives_once_when_the_machine_is_back(
    both: tuple[RunningHub, ScriptedDevice],
) -> None:
    hub, attic = both
    answer = await give(hub, "deny", message="not now")
    assert answer.status_code == 200, answer.text
    given = answer.json()
    assert (given["waits"], given["message"]) == (True, "Denied; attic has not heard it yet.")
    waiting = (await inbox(hub))["waitingAnswer"]
    assert (waiting["decision"], waiting["by"]) == ("deny", "owner")
    (shown,) = await listed(hub)
    assert (shown["id"], shown["state"], shown["at"]) == (given["answerId"], "waiting", waiting["at"])
    assert (shown["expiresAt"], shown["deviceName"], shown["mayTakeBack"]) == (None, "attic", True)

    back(attic)
    outcome = await settled(hub)
    assert outcome["state"] == "applied"
    assert outcome["outcome"].startswith("attic heard it at ")
    assert outcome["mayTakeBack"] is False
    (command,) = answers_to(attic)
    assert (command.decision, command.message, command.input_sha256) == ("deny", "not now", SHA)
    by = attic.asks[-1].by
    assert (by.name, by.grant_id, by.given_at) == ("owner", hub.grant["owner"].id, waiting["at"])
    first, last = await audited(hub, "applied: attic heard it at")
    assert first["detail"] == "waits for attic"
    assert last["detail"].startswith(f"given at {waiting['at']}, applied: attic heard it at ")
    assert {(one["actor"], one["decision"], one["input_sha256"]) for one in (first, last)} == {
        ("owner", "deny", SHA)
    }

    attic.line.closed()
    back(attic)
    assert len(answers_to(attic)) == 1


async def test_standing_commands_go_before_answers(both: tuple[RunningHub, ScriptedDevice]) -> None:
    hub, attic = both
    await give(hub, "deny")
    async with hub.client(hub.tokens["owner"]) as http:
        await http.post("/api/kill-all", json={"device": "device-2"})
    back(attic)
    await settled(hub)
    assert [type(one) for one in attic.commands] == [EndAll, AnswerPermission]


async def test_one_answer_waits_and_the_second_person_is_told_who_was_first(
    both: tuple[RunningHub, ScriptedDevice],
) -> None:
    hub, attic = both
    first = (await give(hub, "deny")).json()
    again = (await give(hub, "deny")).json()
    assert again["answerId"] == first["answerId"]
    for who, decision in (("operator", "deny"), ("operator", "allow"), ("owner", "allow")):
        refused = await give(hub, decision, who)
        assert code(refused) == (409, "ALREADY_ANSWERED")
        error = refused.json()["error"]
        assert (error["by"], error["decision"]) == ("owner", "deny")
        assert error["at"] == (await listed(hub))[0]["at"]
    back(attic)
    await settled(hub)
    assert len(answers_to(attic)) == 1


@pytest.mark.parametrize(
    ("more", "status", "word"),
    [
        ({"inputSha256": "1" * 64}, 409, "INPUT_MISMATCH"),
        ({"requestId": "r9"}, 404, "REQUEST_NOT_FOUND"),
        ({"option": "once"}, 400, "UNKNOWN_OPTION"),
        ({"remember": True}, 400, "INVALID_INPUT"),
    ],
)
async def test_an_answer_that_the_machine_would_refuse_is_refused_at_once(
    both: tuple[RunningHub, ScriptedDevice], more: dict[str, Any], status: int, word: str
) -> None:
    hub, _ = both
    assert code(await give(hub, "deny", **more)) == (status, word)
    assert await listed(hub) == []


async def test_a_request_that_the_copy_shows_as_answered_takes_no_other(
    both: tuple[RunningHub, ScriptedDevice],
) -> None:
    hub, _ = both
    await append(hub.store, "s1", PermissionAnswered("r1", "allow", "ben"))
    refused = await give(hub, "deny")
    assert code(refused) == (409, "ALREADY_ANSWERED")
    assert refused.json()["error"]["by"] == "ben"


async def test_an_answer_without_a_hash_is_bound_to_the_input_that_the_copy_shows(
    both: tuple[RunningHub, ScriptedDevice],
) -> None:
    hub, attic = both
    await give(hub, "deny", inputSha256=None)
    back(attic)
    await settled(hub)
    assert answers_to(attic)[0].input_sha256 == SHA


async def test_an_allow_waits_ten_minutes_and_is_not_applied_later(
    both: tuple[RunningHub, ScriptedDevice], clock: Clock
) -> None:
    hub, attic = both
    given = (await give(hub, "allow")).json()
    assert given["message"] == (
        "Allowed; attic has not heard it yet. It is applied only if the machine is back within 10 minutes."
    )
    assert (await listed(hub))[0]["expiresAt"] == timestamp(clock.now + 600)
    clock.now += 600
    back(attic)
    outcome = await settled(hub)
    assert outcome["state"] == "expired"
    assert outcome["outcome"].startswith("It was not applied: an allow waits 10 minutes")
    assert answers_to(attic) == []
    assert "waitingAnswer" not in await inbox(hub)


async def test_an_allow_that_is_younger_is_applied(
    both: tuple[RunningHub, ScriptedDevice], clock: Clock
) -> None:
    hub, attic = both
    await give(hub, "allow")
    clock.now += 599
    back(attic)
    assert (await settled(hub))["state"] == "applied"
    assert answers_to(attic)[0].decision == "allow"


async def test_an_expired_allow_makes_room_for_another_answer(
    both: tuple[RunningHub, ScriptedDevice], clock: Clock
) -> None:
    hub, _ = both
    await give(hub, "allow")
    clock.now += 600
    assert (await give(hub, "deny", "operator")).json()["waits"]
    assert [one["state"] for one in await listed(hub)] == ["waiting", "expired"]


async def test_an_allow_expires_by_itself_and_the_pages_are_told(tmp_path: Path) -> None:
    async with hub_with_attic(tmp_path, allow_waits_seconds=1) as (hub, _), hub.socket() as socket:
        await give(hub, "allow")
        await until_told(socket)
        await until_told(socket)
        assert (await listed(hub))[0]["state"] == "expired"


async def test_an_allow_expires_also_when_its_timer_fires_before_the_clock_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hub_with_attic(tmp_path, allow_waits_seconds=1) as (hub, _), hub.socket() as socket:
        clock = hub.grants.clock
        await give(hub, "allow")
        await until_told(socket)
        monkeypatch.setattr(hub.grants, "clock", lambda: clock() - 0.2)
        await until_told(socket)
        assert (await listed(hub))[0]["state"] == "expired"


async def test_an_allow_may_be_forbidden_to_wait_and_a_deny_still_does(tmp_path: Path) -> None:
    async with hub_with_attic(tmp_path, allow_waits_seconds=0) as (hub, _):
        refused = await give(hub, "allow")
        assert code(refused) == (503, "DEVICE_OFFLINE")
        error = refused.json()["error"]
        assert error["lastHeard"]
        assert error["message"].endswith("(`allow_waits_seconds` is 0); a deny does.")
        assert await listed(hub) == []
        assert (await give(hub, "deny")).json()["waits"]


async def test_an_answer_of_a_grant_that_was_revoked_meanwhile_is_not_applied(
    both: tuple[RunningHub, ScriptedDevice],
) -> None:
    hub, attic = both
    await give(hub, "deny", "operator")
    await hub.grants.revoke(hub.grant["operator"].id)
    outcome = await settled(hub)
    assert outcome["state"] == "revoked"
    assert "no longer holds" in outcome["outcome"]
    back(attic)
    assert answers_to(attic) == []


async def test_an_answer_of_a_grant_that_ran_out_meanwhile_is_not_applied(
    both: tuple[RunningHub, ScriptedDevice], clock: Clock
) -> None:
    hub, attic = both
    await hub.trust("guest", "operator", expires_in=3600)
    await give(hub, "deny", "guest")
    clock.now += 3601
    back(attic)
    assert (await settled(hub))["state"] == "revoked"
    assert answers_to(attic) == []


async def test_an_answer_is_taken_back_by_who_gave_it_or_the_owner_only(
    both: tuple[RunningHub, ScriptedDevice],
) -> None:
    hub, attic = both
    await hub.trust("guest", "session", session_id="s1")
    await hub.trust("stranger", "operator")
    for giver, taker in (("guest", "guest"), ("guest", "owner"), ("operator", "operator")):
        path = f"/api/sessions/s1/answers/{(await give(hub, 'deny', giver)).json()['answerId']}"
        async with hub.client(hub.tokens["stranger"]) as http:
            assert code(await http.delete(path)) == (403, "FORBIDDEN")
        assert (await listed(hub, "stranger"))[0]["mayTakeBack"] is False
        async with hub.client(hub.tokens[taker]) as http:
            assert (await http.delete(path)).status_code == 200
            assert code(await http.delete(path)) == (409, "ANSWER_NOT_WAITING")
            assert code(await http.delete(path + "0")) == (404, "ANSWER_NOT_FOUND")
        assert "waitingAnswer" not in await inbox(hub)
    back(attic)
    assert answers_to(attic) == []
    assert (await audit(hub))[-1]["detail"].endswith("taken back: It was taken back by operator.")


async def test_it_is_taken_back_once_that_is_on_the_disk_and_waits_on_when_the_disk_takes_nothing(
    both: tuple[RunningHub, ScriptedDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub, attic = both
    path = f"/api/sessions/s1/answers/{(await give(hub, 'deny')).json()['answerId']}"
    writes: list[asyncio.Future[None]] = []

    def transact(*_: Any, **__: Any) -> "asyncio.Future[None]":
        writes.append(asyncio.get_running_loop().create_future())
        return writes[-1]

    async with hub.client(hub.tokens["owner"]) as http:
        with monkeypatch.context() as patch:
            patch.setattr(hub.store, "transact", transact)
            taking = asyncio.create_task(http.delete(path))
            await until(lambda: writes)
            assert not taking.done()
            writes[0].set_exception(StorageFailed("The disk is full."))
            assert code(await taking) == (507, "STORAGE_FAILED")
    assert [one["state"] for one in await listed(hub)] == ["waiting"]
    back(attic)
    assert (await settled(hub))["state"] == "applied"


async def test_an_answer_outlasts_a_restart_of_the_hub(tmp_path: Path) -> None:
    async with hub_with_attic(tmp_path) as (hub, _):
        await give(hub, "deny")
        at = (await inbox(hub))["waitingAnswer"]["at"]
    async with running_hub(tmp_path) as hub:
        assert (await inbox(hub))["waitingAnswer"]["at"] == at
        attic = ScriptedDevice(hub.store, hub.services.switchboard, "device-2", "attic", lambda _: None)
        assert (await settled(hub))["state"] == "applied"
        (command,) = answers_to(attic)
        assert (command.decision, attic.asks[-1].by.given_at) == ("deny", at)


async def test_a_reply_that_was_lost_is_asked_for_again_and_not_taken_back(
    both: tuple[RunningHub, ScriptedDevice],
) -> None:
    hub, attic = both
    given = (await give(hub, "deny")).json()
    attic.mute = True
    back(attic)
    await until(lambda: len(answers_to(attic)) == 1)
    attic.line.closed()
    async with hub.client(hub.tokens["owner"]) as http:
        refused = await http.delete(f"/api/sessions/s1/answers/{given['answerId']}")
    assert code(refused) == (409, "ANSWER_NOT_WAITING")
    attic.mute = False
    back(attic)
    assert (await settled(hub))["state"] == "applied"
    first, again = answers_to(attic)
    assert first == again


async def test_what_the_machine_refuses_is_the_outcome(both: tuple[RunningHub, ScriptedDevice]) -> None:
    hub, attic = both
    await give(hub, "deny")
    attic.refuse = RequestWithdrawn("r1", reason="interrupted")
    back(attic)
    outcome = await settled(hub)
    assert outcome["state"] == "refused"
    assert outcome["outcome"] == (
        "attic did not take it: This request is no longer open (interrupted); nothing was run."
    )
    await audited(hub, "refused: attic did not take it")


async def test_the_answer_to_a_question_waits_too(both: tuple[RunningHub, ScriptedDevice]) -> None:
    hub, attic = both
    asked = QuestionAsked("q1", (Question("Which colour?"),), msgspec.Raw(b"{}"), "2" * 64)
    await append(hub.store, "s1", asked)
    async with hub.socket() as socket:
        fields: dict[str, Any] = {"sessionId": "s1", "requestId": "q1", "inputSha256": "2" * 64}
        wrong = await ask(socket, "session:question", **fields, answers={"Which size?": "red"})
        assert wrong["error"]["code"] == "INVALID_INPUT"
        given = await ask(socket, "session:question", **fields, answers={"Which colour?": "red"})
        assert given["ok"]["waits"] is True
        assert given["ok"]["message"] == "Answered; attic has not heard it yet."
    back(attic)
    assert (await settled(hub))["decision"] == "answered"
    assert answers_to(attic)[0].answers == {"Which colour?": "red"}


async def test_the_pages_are_told_when_an_answer_waits_and_when_it_arrives(
    both: tuple[RunningHub, ScriptedDevice],
) -> None:
    hub, attic = both
    async with hub.socket() as socket:
        await give(hub, "deny")
        await until_told(socket)
        back(attic)
        await until_told(socket)
        assert (await listed(hub))[0]["state"] == "applied"


async def test_a_machine_that_is_there_is_asked_itself(tmp_path: Path) -> None:
    async with hub_with_attic(tmp_path, away=False) as (hub, attic):
        given = (await give(hub, "deny")).json()
        assert not given.get("waits", False)
        assert len(answers_to(attic)) == 1
        assert await listed(hub) == []


async def test_answers_for_a_machine_that_is_removed_are_over(
    both: tuple[RunningHub, ScriptedDevice],
) -> None:
    hub, _ = both
    await give(hub, "deny")
    async with hub.client(hub.tokens["owner"]) as http:
        assert (await http.delete("/api/devices/device-2")).status_code == 200
    outcome = await settled(hub)
    assert (outcome["state"], outcome["outcome"]) == (
        "refused",
        "It was not applied: the machine was removed.",
    )


async def until_told(socket: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while msgspec.json.decode(await socket.recv()).get("type") != "answers:changed":
            pass


async def test_an_answer_that_another_node_kept_for_a_machine_of_this_one_is_given_to_it_once(
    tmp_path: Path,
) -> None:
    async with hub_with_attic(tmp_path, away=False) as (hub, attic):
        owner = next(one for one in hub.grants.list() if one.role == "owner")
        command = AnswerPermission(session_id="s1", request_id="r1", decision="deny", input_sha256=SHA)
        kept = WaitingAnswer(
            id="a1",
            device="device-2",
            session_id="s1",
            request_id="r1",
            input_sha256=SHA,
            decision="deny",
            body=encode(command),
            by=Actor(owner.name, owner.id),
            made_at=timestamp(time.time()),
        )
        other_node = await AnswerBook.open(hub.store)
        await other_node.add(kept, AuditRecord.of(kept.by, "permission", "s1", "waits for attic"))
        for _ in range(2):
            await hub.services.answers.book.reload()
            hub.services.answers.reloaded()
        assert (await settled(hub))["state"] == "applied"
        assert [one.request_id for one in answers_to(attic)] == ["r1"]
