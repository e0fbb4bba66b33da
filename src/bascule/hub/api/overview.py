"""What the hub knows beyond one session, for HTTP and the socket alike: requests, agents, devices, grants."""

import os

import msgspec
from msgspec import Raw

from bascule.hub.api.bodies import GrantBody, TrustBody
from bascule.hub.api.views import (
    AgentList,
    AuditPage,
    AuditVerdict,
    Capabilities,
    DaemonStatus,
    DeviceList,
    Directory,
    Ended,
    Folders,
    GrantList,
    GrantMade,
    RequestList,
    SettingsView,
    grant_view,
    request_view,
)
from bascule.hub.services import Hub
from bascule.link.frames import EndAll, ListAgents, ListConversations, ListTrusted, PauseDevice, TrustFolder
from bascule.model.commands import Actor
from bascule.model.errors import CallerError, InvalidInput


class GrantNotFound(CallerError):
    code = "GRANT_NOT_FOUND"


async def open_requests(hub: Hub) -> RequestList:
    """The inbox: what waits for a person, oldest first."""
    requests = await hub.store.open_requests()
    records = {sid: await hub.store.session(sid) for sid in {request.session_id for request in requests}}
    titles = {sid: record.title if record else "" for sid, record in records.items()}
    return RequestList(requests=[request_view(one, titles[one.session_id]) for one in requests])


async def list_agents(hub: Hub, *, refresh: bool = False) -> AgentList:
    return msgspec.json.decode(await hub.switchboard.ask(ListAgents(refresh)), type=AgentList)


async def list_conversations(hub: Hub, agent: str) -> Raw:
    """Those an agent knows by itself; one without a session here can be taken up in a new one."""
    return Raw(await hub.switchboard.ask(ListConversations(agent)))


def daemon_status(hub: Hub) -> DaemonStatus:
    devices = hub.switchboard.devices()
    online = [device for device in devices if device.online]
    names = sorted({agent.name for device in online for agent in device.agents if agent.available})
    return DaemonStatus(
        connected=bool(online),
        client_id=online[0].device if online else None,
        capabilities=Capabilities(bool(online), names),
        devices=devices,
        storage_problem=hub.store.storage_problem,
    )


def device_list(hub: Hub) -> DeviceList:
    return DeviceList(devices=hub.switchboard.devices())


async def end_all(hub: Hub, by: Actor) -> Ended:
    """The panic button, on every device that can hear it."""
    ended = 0
    for device in hub.switchboard.devices():
        if device.online:
            result = await hub.switchboard.ask(EndAll(by.name), device=device.device, timeout=60)
            ended += msgspec.json.decode(result, type=Ended).ended
    return Ended(ended=ended)


async def pause(hub: Hub, by: Actor, *, paused: bool) -> None:
    await hub.switchboard.ask(PauseDevice(paused, by.name))


def list_grants(hub: Hub) -> GrantList:
    return GrantList(grants=[grant_view(grant) for grant in hub.grants.list()])


async def make_grant(hub: Hub, by: Actor, body: GrantBody) -> GrantMade:
    if body.session_id is not None and await hub.store.session(body.session_id) is None:
        raise InvalidInput("There is no such session.")
    grant, secret = await hub.grants.create(
        body.name, body.role, session_id=body.session_id, expires_in=body.expires_in, by=by.name
    )
    return GrantMade(grant=grant_view(grant), token=secret, link=f"{hub.doors.url}/#token={secret}")


async def revoke_grant(hub: Hub, by: Actor, grant_id: str) -> None:
    if all(grant.id != grant_id for grant in hub.grants.list()):
        raise GrantNotFound("There is no such grant.")
    await hub.grants.revoke(grant_id, by=by.name)


async def audit_page(hub: Hub, after: int, limit: int) -> AuditPage:
    lines = await hub.store.audit_lines(after, limit)
    return AuditPage(records=[Raw(line) for line in lines], last=after + len(lines))


async def audit_verdict(hub: Hub) -> AuditVerdict:
    check = await hub.store.verify_audit()
    return AuditVerdict(
        ok=check.bad is None and not check.fault, count=check.checked, problem=check.fault or None
    )


def settings_view(hub: Hub) -> SettingsView:
    settings = hub.settings
    roots = list(settings.roots) or [os.path.expanduser("~")]
    file = os.path.join(settings.config_dir, "config.toml")
    return SettingsView(limits=settings.limits, terminal=settings.terminal, roots=roots, config_file=file)


async def trusted_folders(hub: Hub) -> Folders:
    return msgspec.json.decode(await hub.switchboard.ask(ListTrusted()), type=Folders)


async def trust_folder(hub: Hub, by: Actor, body: TrustBody) -> Directory:
    wish = TrustFolder(body.path, body.trusted, by)
    return msgspec.json.decode(await hub.switchboard.ask(wish), type=Directory)
