"""One session's files and changes, and its transcript as a file."""

import msgspec
from starlette.responses import Response

from bascule.hub.api.bodies import ExportQuery, FileQuery, SessionBody
from bascule.hub.api.call import Call
from bascule.hub.api.export import export_answer
from bascule.hub.api.operation import Operation
from bascule.hub.api.views import ChangedFile, Changes
from bascule.link.files import FileChange, FileContent, FileList, GitChanges, ListFiles, ReadChanges, ReadFile
from bascule.store.base import Edited


async def file_list(call: Call[FileQuery]) -> FileList:
    command = ListFiles(call.body.session_id, call.body.path)
    answer = await call.hub.switchboard.ask(command, device=call.record.device or None)
    return msgspec.json.decode(answer, type=FileList)


async def file_content(call: Call[FileQuery]) -> FileContent:
    command = ReadFile(call.body.session_id, call.body.path)
    answer = await call.hub.switchboard.ask(command, device=call.record.device or None)
    return msgspec.json.decode(answer, type=FileContent)


async def changes(call: Call[SessionBody]) -> Changes:
    """What the session's own tools changed, and what git sees; one line for each file."""
    record = call.record
    edited = await call.hub.store.edited(record.session_id)
    command = ReadChanges(record.session_id)
    answer = await call.hub.switchboard.ask(command, device=record.device or None)
    git = msgspec.json.decode(answer, type=GitChanges)
    files = {change.path: _from_git(change) for change in git.files}
    for edit in edited:
        path = _relative(edit.path, record.cwd)
        files[path] = _from_session(path, edit, files.get(path))
    return Changes(branch=git.branch, files=list(files.values()), cut=git.cut, git_problem=git.problem)


def _from_git(change: FileChange) -> ChangedFile:
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


async def export(call: Call[ExportQuery]) -> Response:
    return export_answer(call.hub, call.record, call.body.format)


ONE = "/api/sessions/{session_id}"
OPERATIONS = (
    Operation(
        name="session:files",
        method="GET",
        path=ONE + "/files",
        need="session_files",
        body=FileQuery,
        answer=FileList,
        run=file_list,
        summary="List a folder in the session's directory",
        in_session=True,
    ),
    Operation(
        name="session:file",
        method="GET",
        path=ONE + "/files/content",
        need="session_files",
        body=FileQuery,
        answer=FileContent,
        run=file_content,
        summary="The text of a file in the session's directory",
        in_session=True,
    ),
    Operation(
        name="session:changes",
        method="GET",
        path=ONE + "/changes",
        need="session_files",
        body=SessionBody,
        answer=Changes,
        run=changes,
        summary="The files this session changed, and what git says",
        in_session=True,
    ),
    Operation(
        method="GET",
        path=ONE + "/export",
        need="session_read",
        body=ExportQuery,
        run=export,
        summary="The transcript as a file",
        in_session=True,
    ),
)
