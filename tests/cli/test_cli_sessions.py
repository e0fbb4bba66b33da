"""`bascule sessions`: listed, shown, ended and answered, the real program against a scripted server."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from tests.cli.agent_script import SESSION, open_request, play, replies, said
from tests.cli.program import OnTerminal, bascule

pytestmark = pytest.mark.anyio


@pytest.mark.row("B10")
async def test_the_list_shows_phase_title_and_what_waits(tmp_path: Path):
    async with play(tmp_path) as scene:
        row = {
            "session_id": SESSION,
            "phase": "running",
            "agent": "demo",
            "title": "a\u202eb",
            "open_requests": 2,
        }
        scene.server.handlers["session:list"] = replies({"sessions": [row]})
        done = await bascule(tmp_path, "sessions", "list")
        assert SESSION in done.out
        assert "running" in done.out
        assert "a\\u{202e}b" in done.out
        assert "2 waiting for you" in done.out
        done = await bascule(tmp_path, "sessions", "list", "--json")
        assert json.loads(done.out)[0]["session_id"] == SESSION


async def test_show_prints_the_transcript_and_returns(tmp_path: Path):
    async with play(tmp_path) as scene:
        await scene.add(*said("what was said"))
        scene.server.handlers["session:show"] = replies(
            {"session": {"session_id": SESSION, "phase": "waiting", "seq": 3}}
        )
        scene.server.handlers["requests:list"] = replies({"requests": []})
        scene.server.handlers["session:listeners"] = replies({"running": True, "listeners": []})
        done = await bascule(tmp_path, "sessions", "show", SESSION)
    assert (done.code, done.out) == (0, "what was said\n")


async def test_end_and_kill_all(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["kill-all"] = replies({"ended": 2})
        assert (await bascule(tmp_path, "sessions", "end", SESSION)).code == 0
        done = await bascule(tmp_path, "sessions", "kill-all")
    assert done.out == "Stopped 2 sessions.\n"
    assert scene.server.kinds() == ["session:end", "kill-all"]


async def test_allowing_by_words_needs_the_input_that_was_seen(tmp_path: Path):
    sha = sha256(b"rm x").hexdigest()
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        words = ("sessions", "answer", SESSION, "r1", "allow")
        for more in ((), ("--sha", "0" * 12), ("--sha", sha[:4])):
            done = await bascule(tmp_path, *words, *more)
            assert done.code == 2
            assert "$ rm x" in done.err
            assert f"--sha {sha[:12]}" in done.err
        assert scene.answers() == []
        assert (await bascule(tmp_path, *words, "--sha", sha[:12])).code == 0
        answer = scene.answers()[0]
        assert (answer["decision"], answer["inputSha256"]) == ("allow", sha)


async def test_denying_by_words_needs_no_more(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        done = await bascule(tmp_path, "sessions", "answer", SESSION, "r1", "deny", "--message", "no")
    assert done.code == 0
    assert scene.answers()[0]["message"] == "no"


async def test_answer_alone_lists_what_waits_and_an_unknown_request_is_said(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        done = await bascule(tmp_path, "sessions", "answer")
        assert "$ rm x" in done.out
        assert (await bascule(tmp_path, "sessions", "answer", SESSION, "r9", "deny")).code == 4


async def test_on_a_terminal_answer_asks(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        async with OnTerminal(tmp_path, "sessions", "answer", SESSION, "r1") as screen:
            await screen.sees("[y allow once")
            screen.type("y")
            assert await screen.code() == 0
    assert scene.answers()[0]["decision"] == "allow"


@pytest.mark.row("R17")
async def test_a_machine_that_takes_one_answer_at_a_time_is_offered_no_more_on_a_terminal(tmp_path: Path):
    laptop = {
        "device": "d-2",
        "name": "laptop",
        "version": "1",
        "online": True,
        "epoch": 1,
        "ownerOnly": True,
    }
    async with play(tmp_path) as scene:
        scene.server.handlers["requests:list"] = replies({"requests": [open_request("rm x")]})
        scene.server.handlers["device:list"] = replies({"devices": [laptop]})
        shown = {"session_id": SESSION, "phase": "waiting", "seq": 3, "device": "d-2"}
        scene.server.handlers["session:show"] = replies({"session": shown})
        async with OnTerminal(tmp_path, "sessions", "answer", SESSION, "r1") as screen:
            await screen.sees("laptop takes an answer for more than one request only on laptop itself")
            await screen.sees("[y allow once, n [reason] deny")
            screen.type("s")
            await screen.sees("Nothing was answered.")
            await screen.sees("[y allow once, n [reason] deny")
            screen.type("y")
            assert await screen.code() == 0
    (answer,) = scene.answers()
    assert (answer["decision"], answer.get("remember", False)) == ("allow", False)
