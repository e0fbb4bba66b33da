"""The machine: requests that wait, agents, devices, folders, settings, trust, pause and the panic button."""

import os

import msgspec

from bascule.hub.api.bodies import AgentNamed, AgentsQuery, DirectoryQuery, TrustBody
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.operation import Operation
from bascule.hub.api.views import (
    AgentList,
    Capabilities,
    DaemonStatus,
    DeviceList,
    Directories,
    Directory,
    Done,
    Ended,
    Folders,
    RequestList,
    SettingsView,
    request_view,
)
from bascule.link.files import Folders as FoldersFound
from bascule.link.files import ListFolders
from bascule.link.frames import (
    CheckDirectory,
    EndAll,
    ListAgents,
    ListConversations,
    ListTrusted,
    PauseDevice,
    TrustFolder,
)
from bascule.model.errors import InvalidInput


async def open_requests(call: AnyCall) -> RequestList:
    """The inbox: what waits for a person, oldest first."""
    store = call.hub.store
    requests = await store.open_requests()
    records = {sid: await store.session(sid) for sid in {request.session_id for request in requests}}
    titles = {sid: record.title if record else "" for sid, record in records.items()}
    return RequestList(requests=[request_view(request, titles[request.session_id]) for request in requests])


async def agents(call: Call[AgentsQuery]) -> AgentList:
    answer = await call.hub.switchboard.ask(ListAgents(call.body.refresh))
    return msgspec.json.decode(answer, type=AgentList)


async def conversations(call: Call[AgentNamed]) -> msgspec.Raw:
    """Those an agent knows by itself; one without a session here can be taken up in a new one."""
    return msgspec.Raw(await call.hub.switchboard.ask(ListConversations(call.body.agent)))


async def devices(call: AnyCall) -> DeviceList:
    return DeviceList(devices=call.hub.switchboard.devices())


async def daemon_status(call: AnyCall) -> DaemonStatus:
    every = call.hub.switchboard.devices()
    online = [device for device in every if device.online]
    names = sorted({agent.name for device in online for agent in device.agents if agent.available})
    return DaemonStatus(
        connected=bool(online),
        client_id=online[0].device if online else None,
        capabilities=Capabilities(bool(online), names),
        devices=every,
        storage_problem=call.hub.store.storage_problem,
    )


async def directory(call: Call[DirectoryQuery]) -> Directories:
    query = call.body
    if (query.path is None) == (query.prefix is None):
        raise InvalidInput("Give either path or prefix.")
    if query.prefix is None:
        result = await call.hub.switchboard.ask(CheckDirectory(query.path or ""))
        return msgspec.json.decode(result, type=Directories)
    result = await call.hub.switchboard.ask(ListFolders(query.prefix, query.limit))
    found = msgspec.json.decode(result, type=FoldersFound)
    return Directories(directories=found.directories, cut=found.cut)


async def settings(call: AnyCall) -> SettingsView:
    chosen = call.hub.settings
    return SettingsView(
        limits=chosen.limits,
        terminal=chosen.terminal,
        roots=list(chosen.roots) or [os.path.expanduser("~")],
        config_file=os.path.join(chosen.config_dir, "config.toml"),
    )


async def end_all(call: AnyCall) -> Ended:
    """The panic button, on every device that can hear it."""
    board = call.hub.switchboard
    ended = 0
    for device in board.devices():
        if device.online:
            result = await board.ask(EndAll(call.by.name), device=device.device, timeout=60)
            ended += msgspec.json.decode(result, type=Ended).ended
    return Ended(ended=ended)


async def pause(call: AnyCall) -> Done:
    await call.hub.switchboard.ask(PauseDevice(True, call.by.name))
    return Done()


async def resume(call: AnyCall) -> Done:
    await call.hub.switchboard.ask(PauseDevice(False, call.by.name))
    return Done()


async def trusted_folders(call: AnyCall) -> Folders:
    return msgspec.json.decode(await call.hub.switchboard.ask(ListTrusted()), type=Folders)


async def trust_folder(call: Call[TrustBody]) -> Directory:
    command = TrustFolder(call.body.path, call.body.trusted, call.by)
    return msgspec.json.decode(await call.hub.switchboard.ask(command), type=Directory)


OPERATIONS = (
    Operation(
        name="requests:list",
        method="GET",
        path="/api/requests",
        need="viewer",
        answer=RequestList,
        run=open_requests,
        summary="Requests that wait for a person, oldest first",
    ),
    Operation(
        name="agents:list",
        method="GET",
        path="/api/agents",
        need="viewer",
        body=AgentsQuery,
        answer=AgentList,
        run=agents,
        summary="The agents of this machine",
    ),
    Operation(
        name="agents:conversations",
        need="viewer",
        body=AgentNamed,
        run=conversations,
        summary="The conversations an agent knows by itself",
    ),
    Operation(
        name="device:list",
        need="viewer",
        answer=DeviceList,
        run=devices,
        summary="The devices this hub knows",
    ),
    Operation(
        method="GET",
        path="/api/daemon/status",
        need="viewer",
        answer=DaemonStatus,
        run=daemon_status,
        summary="Which devices are connected",
    ),
    Operation(
        method="GET",
        path="/api/directories",
        need="operator",
        body=DirectoryQuery,
        answer=Directories,
        run=directory,
        summary="Check a folder (path), or complete a half-typed one (prefix)",
    ),
    Operation(
        name="settings:show",
        method="GET",
        path="/api/settings",
        need="operator",
        answer=SettingsView,
        run=settings,
        summary="The limits and folders this Bascule runs with",
    ),
    Operation(
        name="kill-all",
        method="POST",
        path="/api/kill-all",
        need="owner",
        answer=Ended,
        run=end_all,
        summary="Stop every agent on every device",
    ),
    Operation(
        name="projects:trusted",
        method="GET",
        path="/api/projects/trusted",
        need="viewer",
        answer=Folders,
        run=trusted_folders,
        summary="Folders in which agents' trust prompts are answered with yes",
    ),
    Operation(
        name="projects:trust",
        method="POST",
        path="/api/projects/trusted",
        need="owner",
        body=TrustBody,
        answer=Directory,
        run=trust_folder,
        summary="Trust a folder, or stop trusting it",
    ),
    Operation(
        name="daemon:pause",
        method="POST",
        path="/api/daemon/pause",
        need="owner",
        answer=Done,
        run=pause,
        summary="Pause a device: it takes no new sessions",
    ),
    Operation(
        name="daemon:resume",
        method="POST",
        path="/api/daemon/resume",
        need="owner",
        answer=Done,
        run=resume,
        summary="Let a paused device take new sessions again",
    ),
)
