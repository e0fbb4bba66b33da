"""`bascule export --cast`: a terminal as it happened, byte for byte, while it runs and after its end."""

import json
from pathlib import Path

import pytest
from tests.cli.program import bascule
from tests.live import LiveServer
from tests.terminal.viewing import terminal, viewing

from bascule.model.events import TerminalResized

pytestmark = pytest.mark.anyio

KEY = "sk-" + "ant-api03-MadeUp0123456789"
MASK = b"[hidden]*********************"


def output_of(text: str) -> bytes:
    lines = [json.loads(line) for line in text.splitlines()[1:]]
    return b"".join(data.encode(errors="surrogateescape") for _, kind, data in lines if kind == "o")


@pytest.mark.row("P8")
async def test_a_terminal_is_exported_as_it_happened_with_its_sizes(short_dir: Path):
    async with LiveServer(short_dir) as server:
        session = await terminal(server)
        async with viewing(server, session) as viewer:
            await viewer.type(
                f"printf 'caf\\303\\251 \\377\\n'; echo {KEY}; sleep 1; echo second; echo do''ne\r"
            )
            await viewer.shows(b"done")
            await viewer.line.resize(100, 30)
            await server.wait_for(
                session, lambda one: isinstance(one, TerminalResized) and (one.cols, one.rows) == (100, 30)
            )
            live = await bascule(server.data, "export", "--cast", session)
            assert live.code == 0, live
            await viewer.type("exit\r")
            await viewer.over()
            whole = bytes(viewer.data)
        target = short_dir / "it.cast"
        done = await bascule(server.data, "export", "--cast", "--keep-secrets", session, "-o", str(target))
        assert done.code == 0, done
        assert "keys that were shown are in it" in done.err
        text = target.read_text()
        head = json.loads(text.splitlines()[0])
        assert head["version"] == 2
        assert output_of(text) == whole
        # Without the owner's word the same bytes, but for the key.
        assert KEY.encode() in whole
        assert "One that a program drew in pieces is not recognised" in live.err
        shown = output_of(live.out)
        assert KEY.encode() not in shown
        assert whole.replace(KEY.encode(), MASK).startswith(shown)
        lines = [json.loads(line) for line in text.splitlines()[1:]]
        assert [0 for _, kind, data in lines if kind == "r" and data == "100x30"] == [0]
        assert [when for when, _, _ in lines] == sorted(when for when, _, _ in lines)
        # It slept for a second in between, and so does the recording.
        shown_at: list[float] = []
        so_far = ""
        for when, kind, data in lines:
            so_far += data if kind == "o" else ""
            shown_at += [when] if "\nsecond\r\n" in so_far else []  # as printed, not as typed
        second = shown_at[0]
        assert second >= 1.0
        plain = await server.create("think")
        refused = await bascule(server.data, "export", "--cast", plain)
        assert refused.code != 0
        assert "Only a terminal has a recording" in refused.err
