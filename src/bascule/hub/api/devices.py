"""Devices: a name that people choose, and taking one off the list."""

from bascule.api.answers import DeviceStatus
from bascule.api.bodies import DeviceNamed, DeviceRename
from bascule.hub.api.call import Call
from bascule.hub.api.operation import Operation
from bascule.model.commands import Done


async def rename_device(call: Call[DeviceRename]) -> DeviceStatus:
    return await call.hub.switchboard.rename(call.body.device_id, call.body.name, call.by)


async def forget_device(call: Call[DeviceNamed]) -> Done:
    await call.hub.switchboard.forget(call.body.device_id, call.by)
    return Done()


OPERATIONS = (
    Operation(
        name="device:rename",
        method="POST",
        path="/api/devices/{device_id}",
        need="owner",
        body=DeviceRename,
        answer=DeviceStatus,
        answer_key="device",
        run=rename_device,
        summary="Rename a device; an empty name gives it its own again",
    ),
    Operation(
        name="device:forget",
        method="DELETE",
        path="/api/devices/{device_id}",
        need="owner",
        body=DeviceNamed,
        answer=Done,
        run=forget_device,
        summary="Remove a device that is away from the list; its sessions stay",
    ),
)
