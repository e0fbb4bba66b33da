"""The folders of a channel as people write them: a whole path, after its machine where there are several."""

from bascule.api.machine_answers import DeviceStatus
from bascule.hub.devices.switchboard import Switchboard
from bascule.model.errors import InvalidInput
from bascule.notify.channels import folder_on, on_machine


def folders_given(board: Switchboard, given: tuple[str, ...]) -> tuple[str, ...]:
    """As they are kept: each on one machine, by its lasting id. Raises `InvalidInput`."""
    return tuple(_given(board.devices(), one) for one in given)


def folders_shown(board: Switchboard, kept: tuple[str, ...]) -> tuple[str, ...]:
    """The machine's name is left out while it is the only one."""
    names = {device.device: device.name for device in board.devices()}
    return tuple(_shown(names, *on_machine(one)) for one in kept)


def _given(known: list[DeviceStatus], text: str) -> str:
    machine, path = on_machine(text)
    if not path.startswith("/"):
        words = f"{text[:60]!r} is not a whole path; a project's folder begins with /, as in /srv/shop"
        raise InvalidInput(f"{words} or laptop:/srv/shop.")
    if not machine and len(known) < 2:
        return folder_on(known[0].device, path) if known else path
    named = {one.device for one in known if machine in (one.device, one.name)} if machine else set[str]()
    if machine and len(named) == 1:
        return folder_on(named.pop(), path)
    names = ", ".join(f"{one.name}:{path[:60]}" for one in known)
    if not machine:
        raise InvalidInput(f"There are several machines; say which one has the folder: {names[:500]}.")
    several = "several machines have the name" if named else "there is no machine"
    raise InvalidInput(f"For the folder {text[:60]!r} {several} {machine[:60]!r}: {names[:500]}.")


def _shown(names: dict[str, str], machine: str, path: str) -> str:
    if not machine or (len(names) == 1 and machine in names):
        return path
    # The id tells two machines of one name apart.
    name = names.get(machine, machine)
    return folder_on(name if list(names.values()).count(name) == 1 else machine, path)
