"""The client's calls about machines, starts from elsewhere, grants and the audit log."""

from typing import Any

from bascule.api.audit_answers import AuditPage, AuditVerdict
from bascule.api.grant_answers import (
    AddressList,
    GrantList,
    GrantMade,
    GrantView,
    LinkMade,
    ServerAddress,
)
from bascule.api.machine_answers import (
    DeviceList,
    DeviceStatus,
    DevicesTold,
    EndedEverywhere,
    TunnelList,
)
from bascule.client.calls import Calls
from bascule.link.machine import AgentInfo, AgentList, Directory, TrustedFolders
from bascule.link.starts import StartList
from bascule.link.tunnels import TunnelStatus
from bascule.link.uplink import UplinkStatus
from bascule.model.commands import Done
from bascule.model.starts import StartDecision


class MachineCalls(Calls):
    async def agents(self) -> list[AgentInfo]:
        return list((await self._read("agents:list", {}, AgentList)).agents)

    async def ping(self) -> None:
        await self._read("ping", {}, dict[str, Any])

    async def join_hub(self, url: str, token: str, *, may_widen: bool = False) -> UplinkStatus:
        """Have this server's machine connect to another hub.

        `may_widen`: that hub may let agents on the machine do more without asking.
        """
        body = {"url": url, "token": token, "mayWiden": may_widen}
        return await self._command("uplink:join", body, UplinkStatus)

    async def let_hub_widen(self, may_widen: bool) -> UplinkStatus:
        """Whether the hub that the machine has joined may let agents there do more without asking."""
        return await self._command("uplink:widen", {"mayWiden": may_widen}, UplinkStatus)

    async def leave_hub(self) -> UplinkStatus:
        return await self._command("uplink:leave", {}, UplinkStatus)

    async def uplink(self, wait: float = 0) -> UplinkStatus:
        """How this server's machine is connected to a hub; `wait` seconds at most while that is decided."""
        return await self._command("uplink:show", {"wait": wait}, UplinkStatus)

    async def devices(self) -> list[DeviceStatus]:
        """The machines that the server knows, also those that are away."""
        return (await self._read("device:list", {}, DeviceList)).devices

    async def kill_all(self, device: str | None = None) -> EndedEverywhere:
        """Stop every agent on all machines, or on one."""
        return await self._command("kill-all", {"device": device}, EndedEverywhere)

    async def pause(self, paused: bool = True, device: str | None = None) -> DevicesTold:
        """All machines take no new sessions, or take them again; or one."""
        return await self._command(
            "daemon:pause" if paused else "daemon:resume", {"device": device}, DevicesTold
        )

    async def starts(self) -> StartList:
        """Starts from elsewhere that wait for approval on the server's machine."""
        return await self._read("starts:list", {}, StartList)

    async def decide_start(self, start_id: str, decision: StartDecision) -> None:
        await self._command("starts:decide", {"startId": start_id, "decision": decision}, Done)

    async def block_starts(self, *, blocked: bool = True) -> None:
        """The server's machine refuses all starts from elsewhere for a day, or takes them again."""
        await self._command("starts:block", {"blocked": blocked}, Done)

    async def trusted_folders(self) -> list[str]:
        return list((await self._read("projects:trusted", {}, TrustedFolders)).folders)

    async def trust_folder(self, path: str, *, trusted: bool = True) -> str:
        """Have agents' trust questions in this folder answered with yes, or no longer; its real path."""
        fields = {"path": path, "trusted": trusted}
        return (await self._command("projects:trust", fields, Directory)).path

    async def grants(self) -> list[GrantView]:
        return (await self._read("grants:list", {}, GrantList)).grants

    async def create_grant(
        self, name: str, role: str, *, days: int | None = 30, session_id: str | None = None
    ) -> GrantMade:
        seconds = None if days is None else days * 86400
        fields = {"name": name, "role": role, "expiresIn": seconds, "sessionId": session_id}
        return await self._command("grants:create", fields, GrantMade)

    async def create_device_grant(self, name: str, device: str) -> GrantMade:
        """For a machine's own connection; it holds until it is revoked."""
        fields = {"name": name, "role": "daemon", "device": device}
        return await self._command("grants:create", fields, GrantMade)

    async def addresses(self) -> list[ServerAddress]:
        """Where the server may be reached."""
        return (await self._read("addresses:list", {}, AddressList)).addresses

    async def tunnels(self) -> list[TunnelStatus]:
        return (await self._read("tunnels:list", {}, TunnelList)).tunnels

    async def open_tunnel(self, host: str, port: int) -> TunnelStatus:
        return await self._command("tunnels:open", {"host": host, "port": port}, TunnelStatus)

    async def close_tunnel(self, host: str) -> None:
        await self._command("tunnels:close", {"host": host})

    async def create_link(self, name: str, role: str) -> LinkMade:
        """A one-time link for another browser."""
        return await self._command("links:create", {"name": name, "role": role}, LinkMade)

    async def revoke_grant(self, grant_id: str) -> None:
        await self._command("grants:revoke", {"grantId": grant_id})

    async def audit(
        self, *, after: int = 0, limit: int = 200, device: str | None = None, chain: int | None = None
    ) -> AuditPage:
        """The server's own audit log, or its copy of a machine's."""
        fields = {"after": after, "limit": limit, "device": device, "chain": chain}
        return await self._read("audit:list", fields, AuditPage)

    async def verify_audit(self, device: str | None = None) -> AuditVerdict:
        return await self._read("audit:verify", {"device": device}, AuditVerdict)
