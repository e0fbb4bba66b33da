"""Projects, the folders in the sidebar; recent folders."""

import os

from bascule.api.bodies import ProjectAdd, ProjectChange, ProjectNamed
from bascule.api.folder_answers import ProjectList, RecentDirectories, RecentFolder
from bascule.api.pushes import ProjectAdded, ProjectChanged, ProjectRemoved
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.calls.session_lookup import devices_of
from bascule.link.machine import CheckDirectory
from bascule.model.commands import Done
from bascule.model.errors import CallerError, Refused
from bascule.model.projects import Project

MAX_RECENT = 20


class ProjectPathInvalid(CallerError):
    code = "PROJECT_PATH_INVALID"


async def list_projects(call: AnyCall) -> ProjectList:
    return ProjectList(projects=await call.hub.projects.list())


async def add(call: Call[ProjectAdd]) -> Project:
    """The device says whether the folder is real and allowed, and what its one true path is."""
    hub, body = call.hub, call.body
    try:
        checked = await call.ask(CheckDirectory(path=body.path))
    except Refused as refused:
        if refused.refusal().code != "INVALID_DIRECTORY":
            raise
        raise ProjectPathInvalid(refused.message) from None
    path, device = checked.path, call.target
    name = body.name or os.path.basename(path) or path
    project = await hub.projects.add(device, path, name, call.by.name)
    hub.push(ProjectAdded(project=project))
    return project


async def change(call: Call[ProjectChange]) -> Project:
    project = await call.hub.projects.change(call.body.project_id, call.body.name, call.body.collapsed)
    call.hub.push(ProjectChanged(project=project))
    return project


async def remove(call: Call[ProjectNamed]) -> Done:
    await call.hub.projects.remove(call.body.project_id)
    call.hub.push(ProjectRemoved(project_id=call.body.project_id))
    return Done()


async def recent_directories(call: AnyCall) -> RecentDirectories:
    """The folders of recent sessions, the latest first; of the machine that is named, or of all."""
    board = call.hub.switchboard
    devices = None if call.device is None else devices_of(call.hub, board.device(call.device))
    recent = await call.hub.store.recent_folders(MAX_RECENT, devices)
    folders = [RecentFolder(path=path, device=device or board.this) for path, device in recent]
    return RecentDirectories(directories=list(dict.fromkeys(path for path, _ in recent)), folders=folders)


OPERATIONS = (
    Operation(
        name="project:list",
        method="GET",
        path="/api/projects",
        need="viewer",
        answer=ProjectList,
        run=list_projects,
        summary="List projects: the folders in the sidebar",
    ),
    Operation(
        name="project:add",
        method="POST",
        path="/api/projects",
        need="operator",
        body=ProjectAdd,
        answer=Project,
        answer_key="project",
        run=add,
        for_device=True,
        summary="Add a project",
    ),
    Operation(
        name="project:change",
        method="POST",
        path="/api/projects/{project_id}",
        need="operator",
        body=ProjectChange,
        answer=Project,
        answer_key="project",
        run=change,
        summary="Rename or collapse a project",
    ),
    Operation(
        name="project:remove",
        method="DELETE",
        path="/api/projects/{project_id}",
        need="operator",
        body=ProjectNamed,
        answer=Done,
        run=remove,
        summary="Remove a project; its sessions stay",
    ),
    Operation(
        name="directories:recent",
        method="GET",
        path="/api/directories/recent",
        need="operator",
        answer=RecentDirectories,
        run=recent_directories,
        for_device=True,
        summary="List recent folders of a machine, or of all machines",
    ),
)
