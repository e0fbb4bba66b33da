"""Search, projects and folders; and the files, changes, share links and exports of one session."""

from starlette.responses import Response

from bascule.hub.api import places, sharing
from bascule.hub.api import search as finding
from bascule.hub.api.bodies import ExportQuery, FileQuery, ProjectAdd, ProjectChange, SearchQuery, ShareBody
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.export import export_answer
from bascule.hub.api.routes.machine import Empty
from bascule.hub.api.session_commands import require_session
from bascule.hub.api.table import NoQuery, Row
from bascule.hub.api.views import Changes, Done, GrantMade, ProjectList, RecentDirectories, SearchAnswer
from bascule.link.files import FileContent, FileList
from bascule.store.projects import Project


async def search(call: Call[None, SearchQuery]) -> SearchAnswer:
    return await finding.find(call.hub, call.query)


async def projects(call: AnyCall) -> ProjectList:
    return await places.project_list(call.hub)


async def add_project(call: Call[ProjectAdd, NoQuery]) -> Project:
    return await places.add_project(call.hub, call.by, call.body)


async def change_project(call: Call[ProjectChange, NoQuery]) -> Project:
    return await places.change_project(call.hub, call.params["id"], call.body)


async def remove_project(call: AnyCall) -> Done:
    await places.remove_project(call.hub, call.params["id"])
    return Done(ok=True)


async def recent(call: AnyCall) -> RecentDirectories:
    return await places.recent_directories(call.hub)


async def files(call: Call[None, FileQuery]) -> FileList:
    record = await require_session(call.hub, call.session_id)
    return await places.file_list(call.hub, record, call.query.path)


async def content(call: Call[None, FileQuery]) -> FileContent:
    record = await require_session(call.hub, call.session_id)
    return await places.file_content(call.hub, record, call.query.path)


async def changes(call: Call[None, NoQuery]) -> Changes:
    return await places.changes(call.hub, await require_session(call.hub, call.session_id))


async def share(call: Call[ShareBody, NoQuery]) -> GrantMade:
    record = await require_session(call.hub, call.session_id)
    return await sharing.share(call.hub, call.by, record, call.body)


async def export(call: Call[None, ExportQuery]) -> Response:
    record = await require_session(call.hub, call.session_id)
    return export_answer(call.hub, record, call.query.format)


ONE = "/api/sessions/{id}"
ROWS = [
    Row(
        method="GET",
        path="/api/search",
        need="viewer",
        serve=search,
        summary="Messages and titles that hold all these words",
        query=SearchQuery,
        answer=SearchAnswer,
    ),
    Row(
        method="GET",
        path="/api/projects",
        need="viewer",
        serve=projects,
        summary="The folders in the sidebar",
        answer=ProjectList,
    ),
    Row(
        method="POST",
        path="/api/projects",
        need="operator",
        serve=add_project,
        summary="Keep a folder in the sidebar",
        body=ProjectAdd,
        answer=Project,
    ),
    Row(
        method="POST",
        path="/api/projects/{id}",
        need="operator",
        serve=change_project,
        summary="Rename or collapse a project",
        body=ProjectChange,
        answer=Project,
    ),
    Row(
        method="DELETE",
        path="/api/projects/{id}",
        need="operator",
        serve=remove_project,
        summary="Take a folder out of the sidebar; its sessions stay",
        body=Empty,
        answer=Done,
    ),
    Row(
        method="GET",
        path="/api/directories/recent",
        need="operator",
        serve=recent,
        summary="Where sessions ran lately",
        answer=RecentDirectories,
    ),
    Row(
        method="GET",
        path=ONE + "/files",
        need="session_files",
        serve=files,
        summary="What is in a folder of the session's directory",
        query=FileQuery,
        answer=FileList,
    ),
    Row(
        method="GET",
        path=ONE + "/files/content",
        need="session_files",
        serve=content,
        summary="The text of a file in the session's directory",
        query=FileQuery,
        answer=FileContent,
    ),
    Row(
        method="GET",
        path=ONE + "/changes",
        need="session_files",
        serve=changes,
        summary="The files this session changed, and what git says",
        answer=Changes,
    ),
    Row(
        method="POST",
        path=ONE + "/share",
        need="owner",
        serve=share,
        summary="A link that shows this session, read-only",
        body=ShareBody,
        answer=GrantMade,
    ),
    Row(
        method="GET",
        path=ONE + "/export",
        need="session_read",
        serve=export,
        summary="The transcript as a file",
        query=ExportQuery,
    ),
]
