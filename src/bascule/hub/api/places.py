"""Projects, folders and files as people ask for them, for HTTP and the socket alike."""

import os

import msgspec

from bascule.hub.api.bodies import ProjectAdd, ProjectChange
from bascule.hub.api.views import (
    ChangedFile,
    Changes,
    ProjectList,
    RecentDirectories,
)
from bascule.hub.services import Hub
from bascule.link.files import (
    FileContent,
    FileList,
    Folders,
    GitChanges,
    ListFiles,
    ListFolders,
    ReadChanges,
    ReadFile,
)
from bascule.link.frames import CheckDirectory
from bascule.model.codec import encode
from bascule.model.commands import Actor
from bascule.model.errors import CallerError, Refused
from bascule.model.records import SessionRecord
from bascule.store.base import Edited
from bascule.store.projects import Project

MAX_RECENT = 20


class ProjectPathInvalid(CallerError):
    code = "PROJECT_PATH_INVALID"


class _Real(msgspec.Struct):
    path: str


# Projects


async def project_list(hub: Hub) -> ProjectList:
    return ProjectList(projects=await hub.projects.list())


async def add_project(hub: Hub, by: Actor, body: ProjectAdd) -> Project:
    """The device says whether the folder is real and allowed, and what its one true path is."""
    device = hub.switchboard.default_device()
    try:
        answer = await hub.switchboard.ask(CheckDirectory(body.path), device=device)
    except Refused as refused:
        if refused.refusal().code != "INVALID_DIRECTORY":
            raise
        raise ProjectPathInvalid(refused.message) from None
    path = msgspec.json.decode(answer, type=_Real).path
    name = body.name or os.path.basename(path) or path
    project = await hub.projects.add(device, path, name, by.name)
    _tell(hub, {"type": "project:added", "project": project})
    return project


async def change_project(hub: Hub, project_id: str, body: ProjectChange) -> Project:
    project = await hub.projects.change(project_id, body.name, body.collapsed)
    _tell(hub, {"type": "project:changed", "project": project})
    return project


async def remove_project(hub: Hub, project_id: str) -> None:
    await hub.projects.remove(project_id)
    _tell(hub, {"type": "project:removed", "projectId": project_id})


def _tell(hub: Hub, message: object) -> None:
    if hub.feed.listeners:
        hub.feed.notify(None, encode(message))


# Folders


async def recent_directories(hub: Hub) -> RecentDirectories:
    """Where sessions ran, the latest first."""
    records = await hub.store.sessions() + await hub.store.sessions(archived=True)
    records.sort(key=lambda record: record.updated_at, reverse=True)
    found = dict.fromkeys(record.worktree_of or record.cwd for record in records if record.cwd)
    return RecentDirectories(directories=list(found)[:MAX_RECENT])


async def folders(hub: Hub, prefix: str, limit: int) -> Folders:
    return msgspec.json.decode(await hub.switchboard.ask(ListFolders(prefix, limit)), type=Folders)


# A session's files


async def file_list(hub: Hub, record: SessionRecord, path: str) -> FileList:
    wish = ListFiles(record.session_id, path)
    answer = await hub.switchboard.ask(wish, device=record.device or None)
    return msgspec.json.decode(answer, type=FileList)


async def file_content(hub: Hub, record: SessionRecord, path: str) -> FileContent:
    wish = ReadFile(record.session_id, path)
    answer = await hub.switchboard.ask(wish, device=record.device or None)
    return msgspec.json.decode(answer, type=FileContent)


async def changes(hub: Hub, record: SessionRecord) -> Changes:
    """What the session's own tools changed, and what git sees; one line for each file."""
    edited = await hub.store.edited(record.session_id)
    wish = ReadChanges(record.session_id)
    answer = await hub.switchboard.ask(wish, device=record.device or None)
    git = msgspec.json.decode(answer, type=GitChanges)
    files = {one.path: _from_git(one) for one in git.files}
    for one in edited:
        path = _relative(one.path, record.cwd)
        files[path] = _from_session(path, one, files.get(path))
    return Changes(branch=git.branch, files=list(files.values()), cut=git.cut, git_problem=git.problem)


def _from_git(change: "msgspec.Struct") -> ChangedFile:
    return ChangedFile(source="git", edits=[], **msgspec.structs.asdict(change))


def _from_session(path: str, edited: Edited, known: ChangedFile | None) -> ChangedFile:
    if known is not None:
        return msgspec.structs.replace(known, source="both", edits=edited.entries)
    return ChangedFile(
        path=path,
        status="edited",
        added=edited.added,
        removed=edited.removed,
        patch=edited.patch,
        cut=edited.cut,
        binary=False,
        source="session",
        edits=edited.entries,
    )


def _relative(path: str, cwd: str) -> str:
    below = cwd.rstrip("/") + "/"
    return path.removeprefix(below) if path.startswith(below) else path
