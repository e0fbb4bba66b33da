"""`bascule run`, the real program against a scripted server."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.cli.agent_script import SESSION, event, permission, play, said, whole
from tests.cli.program import OnTerminal, bascule
from tests.client.scripted import Denied

pytestmark = pytest.mark.anyio


@pytest.mark.row("X12")
async def test_text_is_streamed_and_the_exit_status_is_zero(tmp_path: Path):
    async with play(tmp_path) as scene:
        running = asyncio.create_task(bascule(tmp_path, "run", "hello", "--model", "opus"))
        await scene.begin()
        await scene.add(*said("Hm.", "thinking", "t1"), *said("Hello there.\x1b]0;evil\x07"))
        await scene.add(*whole("Now at once."), *whole("And again.", "thinking", "w2"))
        await scene.add(
            event("tool_started", tool_id="1", name="Edit", title="Edit a.py", kind="edit"),
            event(
                "tool_changed",
                tool_id="1",
                status="done",
                diffs=[{"path": "a.py", "patch": "@@ -1 +1 @@\n-old\n+new", "added": 1, "removed": 1}],
            ),
        )
        await scene.end_turn()
        done = await running
    assert done.code == 0
    assert "Hello there.\\u{1b}]0;evil\\u{7}" in done.out
    assert "evil\\u{7}\nNow at once.\nAnd again.\n● Edit a.py" in done.out
    assert "+new" in done.out
    assert "\x1b" not in done.out
    create = scene.server.asked[0]
    assert (create["prompt"], create["model"], create["permissionMode"]) == ("hello", "opus", "relay")
    assert create["cwd"].startswith("/")
    assert scene.server.kinds()[-1] == "session:end"


@pytest.mark.parametrize(("reason", "code"), [("error", 1), ("refusal", 1), ("interrupted", 130)])
async def test_a_turn_that_went_wrong_is_a_status(tmp_path: Path, reason: str, code: int):
    async with play(tmp_path) as scene:
        running = asyncio.create_task(bascule(tmp_path, "run", "hello"))
        await scene.begin()
        await scene.end_turn(reason, message="the API is down")
        done = await running
    assert done.code == code
    assert "the API is down" in done.out


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        ({"reason": "closed", "code": 143}, "The session was closed."),
        ({"reason": "exited", "code": 1}, "The session ended (exited, status 1)"),
    ],
)
async def test_a_session_that_ends_is_said_to_have_ended_as_a_person_would_put_it(
    tmp_path: Path, ended: dict[str, object], words: str
):
    async with play(tmp_path) as scene:
        running = asyncio.create_task(bascule(tmp_path, "run", "hello"))
        await scene.begin()
        await scene.add(event("session_ended", **ended))
        done = await running
    assert words in done.out
    assert "143" not in done.out


async def test_a_session_that_fails_shows_its_last_words(tmp_path: Path):
    async with play(tmp_path) as scene:
        running = asyncio.create_task(bascule(tmp_path, "run", "hello"))
        await scene.begin()
        await scene.add(
            event("session_failed", reason="exited", message="It died.", stderr_tail="no such module\n")
        )
        done = await running
    assert done.code == 1
    assert "It died." in done.out
    assert "no such module" in done.out


async def test_json_prints_the_events_as_they_are(tmp_path: Path):
    async with play(tmp_path) as scene:
        running = asyncio.create_task(bascule(tmp_path, "run", "hello", "--json", "--keep"))
        await scene.begin()
        await scene.add(*said("Hi."))
        await scene.end_turn()
        done = await running
    assert [json.loads(line) for line in done.out.splitlines()] == scene.log
    assert "session:end" not in scene.server.kinds()


async def test_detach_prints_the_id_and_leaves_it_running(tmp_path: Path):
    async with play(tmp_path) as scene:
        done = await bascule(tmp_path, "run", "hello", "--detach")
    assert (done.code, done.out) == (0, SESSION + "\n")
    assert scene.server.kinds() == ["session:create"]


@pytest.mark.row("R18")
async def test_a_level_can_be_asked_for_and_one_that_does_not_exist_is_wrong_usage(tmp_path: Path):
    async with play(tmp_path) as scene:
        await bascule(tmp_path, "run", "hello", "--detach", "--capability", "read_only")
        await bascule(tmp_path, "run", "hello", "--detach")
        wrong = await bascule(tmp_path, "run", "hello", "--capability", "none")
    assert [one.get("capability") for one in scene.server.asked] == ["read_only", None]
    assert wrong.code == 2
    assert "project_scoped" in wrong.err


async def test_the_prompt_may_come_from_stdin(tmp_path: Path):
    async with play(tmp_path) as scene:
        await bascule(tmp_path, "run", "-", "--detach", stdin=b"from a pipe\n")
    assert scene.server.asked[0]["prompt"] == "from a pipe\n"


async def test_an_empty_prompt_is_wrong_usage(tmp_path: Path):
    assert (await bascule(tmp_path, "run", "  ")).code == 2


async def test_without_a_server_it_is_said_how_to_start_one(tmp_path: Path):
    done = await bascule(tmp_path, "run", "hello")
    assert done.code == 3
    assert done.err.endswith("start one with: bascule\n")
    assert done.out == ""


async def test_a_refusal_is_a_sentence_and_status_four(tmp_path: Path):
    async with play(tmp_path) as scene:

        async def refuse(*_: object) -> None:
            raise Denied("LIMIT_REACHED", "3 sessions run already; end one first.")

        scene.server.handlers["session:create"] = refuse
        done = await bascule(tmp_path, "run", "hello")
    assert (done.code, done.err) == (4, "3 sessions run already; end one first.\n")


async def test_resume_goes_on_in_a_session_of_this_server(tmp_path: Path):
    async with play(tmp_path) as scene:
        await scene.add(*said("old words"))

        async def shown(*_: object) -> object:
            return {"session": {"session_id": SESSION, "phase": "ended", "seq": 3}}

        async def sent(_: object, frame: dict[str, str]) -> object:
            scene.message_id = frame["clientMessageId"]
            return {"ok": True, "promptId": "p1", "state": "sent"}

        async def waiting(*_: object) -> object:
            return {"requests": []}

        scene.server.handlers |= {
            "session:show": shown,
            "session:send": sent,
            "requests:list": waiting,
        }
        running = asyncio.create_task(bascule(tmp_path, "run", "more", "--resume", SESSION))
        await scene.begin()
        await scene.add(*said("new words"))
        await scene.end_turn()
        done = await running
    assert done.code == 0
    assert "new words" in done.out
    assert "old words" not in done.out
    kinds = scene.server.kinds()
    assert kinds.index("session:reconnect") < kinds.index("session:send")
    assert "session:end" not in kinds


# Permissions


async def test_without_a_terminal_nothing_is_ever_allowed(tmp_path: Path):
    async with play(tmp_path) as scene:
        running = asyncio.create_task(bascule(tmp_path, "run", "hello", stdin=b"y\ny\ny\n"))
        await scene.begin()
        await scene.add(permission("r1", "rm -rf build\u202e"))
        await scene.add(event("permission_answered", request_id="r1", decision="deny", by="ana"))
        await scene.end_turn()
        done = await running
    assert scene.answers() == []
    assert "$ rm -rf build\\u{202e}" in done.err
    assert f"bascule sessions answer {SESSION} r1 allow --sha" in done.err
    assert "denied by ana" in done.out


@pytest.mark.row("S44")
async def test_a_permission_is_shown_exactly_and_allowed_once_by_y(tmp_path: Path):
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:
        await scene.begin()
        await scene.add(permission("r1", "echo ok\u202e; rm x", title="Run\nPermission: nothing"))
        await screen.sees("Permission: Bash  Run\\nPermission: nothing")
        await screen.sees("invisible characters")
        await screen.sees("$ echo ok\\u{202e}; rm x")
        await screen.sees("[y allow once")
        screen.type("y")
        await scene.server.wait_for(lambda: bool(scene.answers()))
        await scene.add(event("permission_answered", request_id="r1", decision="allow", by="me"))
        await screen.sees("allowed by me")
        await scene.end_turn()
        assert await screen.code() == 0
    answer = scene.answers()[0]
    assert (answer["requestId"], answer["decision"], answer["option"]) == ("r1", "allow", "once")
    assert len(answer["inputSha256"]) == 64


async def test_enter_alone_and_keys_typed_ahead_never_allow(tmp_path: Path):
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:
        screen.type("y")
        await scene.begin()
        await scene.add(permission("r1", "rm x"))
        await screen.sees("[y allow once")
        screen.type("")
        await screen.sees("Nothing was answered.")
        await screen.sees("[y allow once")
        screen.type("allow it please")
        await screen.sees("Nothing was answered.")
        await screen.sees("[y allow once")
        screen.type("n use trash instead")
        await scene.server.wait_for(lambda: bool(scene.answers()))
        await scene.end_turn()
        assert await screen.code() == 0
    assert len(scene.answers()) == 1
    answer = scene.answers()[0]
    assert (answer["decision"], answer["message"]) == ("deny", "use trash instead")


async def test_a_request_says_each_thing_once_and_so_does_its_denial(tmp_path: Path):
    asked = permission(
        "r1", "rm x", tool="Write", title="Write /a/b.txt", note="b.txt", tool_id="t1", kind="edit"
    )
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:
        await scene.begin()
        await scene.add(asked)
        await screen.sees("Permission: Write /a/b.txt")
        await screen.sees("[y allow once")
        assert "the agent says" not in screen.text
        screen.type("n not there")
        await scene.server.wait_for(lambda: bool(scene.answers()))
        await scene.add(
            event("permission_answered", request_id="r1", decision="deny", by="me", message="not there"),
            event("tool_changed", tool_id="t1", status="denied", output="not there"),
            *said("Then not."),
        )
        await screen.sees("Then not.")
        assert screen.text.count("denied") == 1
        await scene.end_turn()
        assert await screen.code() == 0


async def test_a_plan_is_approved_or_kept_and_never_remembered(tmp_path: Path):
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:
        await scene.begin()
        await scene.add(permission("r1", "", tool="ExitPlanMode", title="Plan to approve", kind="plan"))
        await screen.sees("[y approve, n [what to change] keep planning")
        screen.type("s")
        await screen.sees("Nothing was answered.")
        await screen.sees("[y approve, n [what to change] keep planning")
        screen.type("n smaller steps")
        await scene.server.wait_for(lambda: bool(scene.answers()))
        await scene.end_turn()
        assert await screen.code() == 0
    assert [(one["decision"], one["message"]) for one in scene.answers()] == [("deny", "smaller steps")]


async def test_an_answer_given_elsewhere_takes_the_question_away(tmp_path: Path):
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:
        await scene.begin()
        await scene.add(permission("r1", "first"), permission("r2", "second"))
        await screen.sees("$ first")
        await screen.sees("[y allow once")
        await scene.add(event("permission_answered", request_id="r1", decision="allow", by="ana"))
        await screen.sees("allowed by ana")
        await screen.sees("$ second")
        await screen.sees("[y allow once")
        screen.type("s")
        await scene.server.wait_for(lambda: bool(scene.answers()))
        await scene.end_turn()
        assert await screen.code() == 0
    answer = scene.answers()[0]
    assert (answer["requestId"], answer["decision"], answer["remember"]) == ("r2", "allow", True)


async def test_what_cannot_be_remembered_is_asked_again(tmp_path: Path):
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:

        async def choosy(_: object, frame: dict[str, object]) -> object:
            if frame.get("remember"):
                raise Denied("INVALID_INPUT", "This can't be remembered exactly; allow it once.")
            return {}

        scene.server.handlers["session:permission"] = choosy
        await scene.begin()
        await scene.add(permission("r1", "a; b"))
        await screen.sees("[y allow once")
        screen.type("s")
        await screen.sees("can't be remembered")
        await screen.sees("[y allow once")
        screen.type("y")
        await scene.server.wait_for(lambda: len(scene.answers()) == 2)
        await scene.end_turn()
        assert await screen.code() == 0


@pytest.mark.row("S44")
async def test_the_end_of_a_long_command_is_shown_and_v_shows_the_middle(tmp_path: Path):
    command = "echo " + "a" * 20_000 + "MIDDLE" + "a" * 20_000 + "; rm -rf tail"
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:
        await scene.begin()
        await scene.add(permission("r1", command))
        await screen.sees("characters left out here")
        await screen.sees("; rm -rf tail")
        await screen.sees("[y allow once")
        assert "MIDDLE" not in screen.text
        screen.type("v")
        await screen.sees("MIDDLE")
        await screen.sees("[y allow once")
        screen.type("n")
        await scene.server.wait_for(lambda: bool(scene.answers()))
        await scene.end_turn()
        assert await screen.code() == 0


async def test_questions_are_answered_by_number_and_by_words(tmp_path: Path):
    asked = event(
        "question_asked",
        request_id="q1",
        input={},
        input_sha256="0" * 64,
        questions=[
            {"question": "Which?", "options": [{"label": "red"}, {"label": "blue"}]},
            {"question": "How many?", "options": [{"label": "one"}], "multi_select": True},
        ],
    )
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:
        await scene.begin()
        await scene.add(asked)
        await screen.sees("Which?")
        await screen.sees("2 blue")
        await screen.sees("or - to decline]")
        screen.type("7")
        await screen.sees("or - to decline]")
        screen.type("2")
        await screen.sees("How many?")
        await screen.sees("or - to decline]")
        screen.type("many, many")
        await scene.server.wait_for(lambda: bool(scene.answers()))
        await scene.end_turn()
        assert await screen.code() == 0
    assert scene.answers()[0]["answers"] == {"Which?": "blue", "How many?": "many, many"}


# Ctrl-C


async def test_ctrl_c_interrupts_the_turn(tmp_path: Path):
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:
        await scene.begin()
        await scene.add(*said("thinking about it"))
        await screen.sees("thinking about it")
        screen.press_ctrl_c()
        await scene.server.wait_for(lambda: "session:interrupt" in scene.server.kinds())
        await scene.end_turn("interrupted")
        assert await screen.code() == 130


async def test_ctrl_c_twice_leaves_the_session_running(tmp_path: Path):
    async with play(tmp_path) as scene, OnTerminal(tmp_path, "run", "hello") as screen:
        await scene.begin()
        await scene.add(permission("r1", "rm x"))
        await screen.sees("[y allow once")
        screen.press_ctrl_c()
        await screen.sees("Interrupting")
        screen.press_ctrl_c()
        await screen.sees(f"bascule sessions end {SESSION}")
        assert await screen.code() == 130
    assert "session:end" not in scene.server.kinds()
    assert scene.answers() == []
