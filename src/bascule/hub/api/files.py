"""One session's files and changes, and its transcript as a file."""

import msgspec

from bascule.api.bodies import ExportQuery, SessionBody
from bascule.api.folder_answers import ChangedFile, Changes
from bascule.hub.calls.call import Call
from bascule.hub.calls.forwarding import forwarding
from bascule.hub.calls.operation import Operation
from bascule.hub.door.roles import Forbidden, allows
from bascule.hub.export.export import export_answer
from bascule.hub.wire.response import Response
from bascule.link.files import FileChange, FindFiles, ListFiles, ReadChanges, ReadFile
from bascule.policy.own_plans import is_own_plan
from bascule.store.base import Edited


async def changes(call: Call[SessionBody]) -> Changes:
    """The files that the session's tools changed, merged with git's changes; one item per file."""
    record = call.record
    edited = await call.hub.store.edited(record.session_id)
    git = await call.ask(ReadChanges(session_id=record.session_id))
    files = {change.path: _from_git(change) for change in git.files}
    for edit in edited:
        if is_own_plan(edit.path, record.cwd):
            continue
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
    keep = call.body.keep_secrets
    if keep and not allows(call.holder, "owner"):
        raise Forbidden("Only the owner may export a session with what looks like a secret in it.")
    return export_answer(call.hub, call.record, call.body.format, show=call.body.show, keep=keep)


ONE = "/api/sessions/{session_id}"
OPERATIONS = (
    forwarding(
        ListFiles,
        name="session:files",
        method="GET",
        path=ONE + "/files",
        need="session_files",
        summary="List a folder in the session's directory",
    ),
    forwarding(
        FindFiles,
        name="session:find-files",
        method="GET",
        path=ONE + "/files/find",
        need="session_files",
        summary="Find files of the project by letters of their path",
    ),
    forwarding(
        ReadFile,
        name="session:file",
        method="GET",
        path=ONE + "/files/content",
        need="session_files",
        summary="Read a text file in the session's directory",
    ),
    Operation(
        name="session:changes",
        method="GET",
        path=ONE + "/changes",
        need="session_files",
        body=SessionBody,
        answer=Changes,
        run=changes,
        summary="List the files this session changed, and the git status",
        in_session=True,
    ),
    Operation(
        method="GET",
        path=ONE + "/export",
        need="session_read",
        body=ExportQuery,
        ticket=True,
        run=export,
        summary="Export the transcript",
        in_session=True,
    ),
)
