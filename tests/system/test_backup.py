"""`bascule backup` and `bascule restore`: real servers, one of them writing while its backup is made."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.machines.machines import rows_of
from tests.parts import Part
from tests.system.test_command_line import bascule

from bascule.model.events import TextAppended, TurnEnded

pytestmark = [pytest.mark.anyio, pytest.mark.joined("a backup is one of a process's own database")]


async def opens(server: LiveServer, token: str) -> int:
    answer = await server.http.get("/api/sessions", headers={"authorization": f"Bearer {token}"})
    return answer.status_code


def stored(file: Path, session: str) -> list[bytes]:
    """The rows of a log as a backup has them."""
    with closing(sqlite3.connect(file)) as copy:
        found = copy.execute("SELECT body FROM events WHERE session_id = ? ORDER BY seq", (session,))
        return [bytes(body) for (body,) in found]


@pytest.mark.row("REL-43")
async def test_a_backup_of_a_writing_server_is_restored_elsewhere_and_opens_to_nobody_of_before(
    make_server: Callable[..., LiveServer], short_dir: Path, part: Part
) -> None:
    server, other = make_server(), make_server("other")  # another machine, which has no state folder yet
    await server.start()
    done = await server.create("think")
    await server.wait_for(done, TurnEnded)
    made = await server.post("/api/grants", name="a reader", role="viewer")
    token = made.json()["token"]
    assert await opens(server, token) == 200
    writing = await server.create("slow 100000")
    first = await server.wait_for(writing, TextAppended)
    file = short_dir / "copy.db"
    code, said = await bascule(server, "backup", str(file))
    assert code == 0, said
    assert "2 sessions" in said
    await server.wait_for(writing, TextAppended, first.seq)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in short_dir.glob("copy.db*")] == ["copy.db"]
    rows = {session: await rows_of(server, session) for session in (done, writing)}

    with part("a backup is not written over"):
        before = file.read_bytes()
        code, said = await bascule(server, "backup", str(file))
        assert (code, "exists already" in said) == (2, True)
        assert file.read_bytes() == before
    with part("a server that runs is not replaced"):
        code, said = await bascule(server, "restore", str(file), "--replace")
        assert (code, "Stop it first" in said) == (1, True), said
        assert await opens(server, token) == 200
    with part("nobody gets in by what the backup holds"), closing(sqlite3.connect(file)) as copy:
        assert copy.execute("SELECT count(*) FROM grants").fetchone() == (0,)
        assert sha256(token.encode()).hexdigest().encode() not in file.read_bytes()

    code, said = await bascule(other, "restore", str(file))
    assert code == 0, said
    code, verdict = await bascule(other, "audit", "verify")
    assert (code, verdict.startswith("ok:")) == (0, True), verdict
    await other.start()
    assert [await opens(other, one) for one in (token, server.token)] == [401, 401]
    for session, whole in rows.items():
        copied = stored(file, session)
        assert copied
        assert whole[: len(copied)] == copied
        assert (await rows_of(other, session))[: len(copied)] == copied
    assert stored(file, done) == rows[done]
    status = (await other.http.get("/api/daemon/status")).json()["restored"]
    assert status["backupAt"] in said
    records, check = await other.audit()
    assert check["ok"]
    noted = [one["entry"]["record"] for one in records]
    (restored,) = [one for one in noted if one["action"] == "restored"]
    assert status["backupAt"] in restored["detail"]
    assert (other.data / "device").read_text() == (server.data / "device").read_text()
