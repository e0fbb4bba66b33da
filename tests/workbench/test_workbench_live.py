"""The workbench's questions to a real server with a real agent, in a real repository."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.live import LiveServer
from tests.parts import Part
from tests.waiting import PATIENCE

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio

GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "ana",
    "GIT_AUTHOR_EMAIL": "ana@example.com",
    "GIT_COMMITTER_NAME": "ana",
    "GIT_COMMITTER_EMAIL": "ana@example.com",
}


def git(folder: Path, *arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **GIT}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


def make_repository(folder: Path) -> None:
    git(folder, "init", "-q", "-b", "trunk")
    (folder / "notes.txt").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "notes.txt").write_text("two\n")
    (folder / "inner").mkdir()


async def add(server: LiveServer, path: str) -> httpx.Response:
    return await server.http.post("/api/projects", json={"path": path})


async def search(server: LiveServer, words: str) -> dict[str, Any]:
    """Until the index has everything: it is filled in the moment after a message is finished."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = (await server.http.get("/api/search", params={"q": words})).json()
            if found["hits"] and not found["owed"]:
                return found
            await asyncio.sleep(0.02)


@pytest.mark.row("X4", "X9", "S31", "A4", "R12")
async def test_a_session_is_found_shown_shared_and_kept(short_dir: Path, part: Part) -> None:
    async with LiveServer(short_dir) as server:
        make_repository(server.work)
        session = await server.create("count 3 about pelicans", permissionMode="auto")
        await server.wait_for(session, TurnEnded)

        found = await search(server, "pelican")
        with part("X4: a search finds the message and its page"):
            assert {hit["kind"] for hit in found["hits"]} >= {"title", "prompt"}
            prompt = next(hit for hit in found["hits"] if hit["kind"] == "prompt")
            around = {"around": prompt["firstSeq"], "limit": 4}
            page = (await server.http.get(f"/api/sessions/{session}/entries", params=around)).json()
            assert prompt["firstSeq"] in [entry["first_seq"] for entry in page["entries"]]

        one = f"/api/sessions/{session}"
        with part("files of the folder are shown"):
            listed = (await server.http.get(f"{one}/files")).json()
            assert [item["name"] for item in listed["items"]] == ["inner", "notes.txt"]
            read = (await server.http.get(f"{one}/files/content", params={"path": "notes.txt"})).json()
            assert read["text"] == "two\n"
        with part("S31: no path leads out of the folder"):
            for path in (
                "../data/bascule.db",
                "%2e%2e/data/server.json",
                "/etc/passwd",
                "..%5cdata",
                "inner/../..",
            ):
                refused = await server.http.get(f"{one}/files/content", params={"path": path})
                assert refused.status_code in (403, 404), path
                raw = await server.http.get(f"{one}/files/content?path={path}")
                assert raw.status_code in (403, 404), path

        with part("X9: changes are shown"):
            changes = (await server.http.get(f"{one}/changes")).json()
            assert (changes["branch"], changes["gitProblem"]) == ("trunk", None)
            assert [(file["path"], file["patch"]) for file in changes["files"]] == [
                ("notes.txt", "@@ -1 +1 @@\n-one\n+two")
            ]

        with part("A4: a project is added once"):
            project = await add(server, str(server.work) + "/")
            assert project.json()["path"] == str(server.work)
            assert (await add(server, str(server.work))).status_code == 409
            (server.folder / "elsewhere").symlink_to(server.work)
            assert (await add(server, f"{server.folder}/elsewhere")).status_code == 409
        with part("A4: an invalid folder is refused"):
            for path in (
                "/etc",
                f"{server.work}/missing",
                f"{server.work}/notes.txt",
                f"{server.work}/../work",
            ):
                bad = await add(server, path)
                assert (bad.status_code, bad.json()["error"]["code"]) == (400, "PROJECT_PATH_INVALID"), path
        with part("A4: folders are completed, our own are not"):
            folders = await server.http.get("/api/directories", params={"prefix": f"{server.folder}/wo"})
            assert folders.json()["directories"] == [str(server.work)]
            own = await server.http.get("/api/directories", params={"prefix": f"{server.folder}/"})
            assert str(server.data) not in own.json()["directories"]

        shared = (await server.post(f"{one}/share")).json()
        assert (await server.http.get("/s")).status_code == 200
        await server.kill()
        await server.start()
        guest = {"authorization": f"Bearer {shared['token']}"}
        with part("R12: a guest reads one session after a restart"):
            assert (await server.http.get(f"{one}/entries", headers=guest)).status_code == 200
            assert (await server.http.get(f"{one}/files", headers=guest)).status_code == 403
            assert (await server.http.get("/api/sessions", headers=guest)).status_code == 403
        with part("projects, search and export survive a restart"):
            kept = (await server.http.get("/api/projects")).json()["projects"]
            assert [one["path"] for one in kept] == [str(server.work)]
            assert len((await search(server, "pelican"))["hits"]) == len(found["hits"])
            exported = await server.http.get(f"{one}/export", params={"format": "markdown"})
            assert "pelicans" in exported.text
        with part("a revoked guest is refused"):
            await server.http.request("DELETE", f"/api/grants/{shared['grant']['id']}")
            assert (await server.http.get(f"{one}/entries", headers=guest)).status_code == 401


@pytest.mark.row("X9")
async def test_an_agents_edit_is_a_change_of_its_session(short_dir: Path) -> None:
    async with LiveServer(short_dir) as server:
        session = await server.create("edit", permissionMode="auto")
        await server.wait_for(session, TurnEnded)
        changes = (await server.http.get(f"/api/sessions/{session}/changes")).json()
        assert changes["gitProblem"] == "This folder is not a git repository."
        [file] = changes["files"]
        assert (file["source"], file["status"]) == ("session", "edited")
        assert file["edits"]
        assert "greet(name)" in file["patch"]
