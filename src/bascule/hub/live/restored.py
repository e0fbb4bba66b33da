"""That an older copy of the database was put in place, as people see it."""

from bascule.api.server_answers import Restored, SentAgain
from bascule.hub.services import Hub


def restored_view(hub: Hub) -> Restored | None:
    last = hub.restores.shown
    if last is None:
        return None
    known = {one.device: one.name for one in hub.switchboard.devices()}
    return Restored(
        at=last.at,
        records=last.records,
        backup_at=last.backup_at or None,
        machines=[
            SentAgain(device=one, name=known.get(one, one), rows=n) for one, n in last.sent_again.items()
        ],
    )
