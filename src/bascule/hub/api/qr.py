"""A link as a square of dots, for a phone's camera. The page draws it: it may not take any markup."""

from collections.abc import Sequence
from typing import cast

from bascule.hub.api.bodies import QrBody
from bascule.hub.api.views import QrCode


def qr_code(body: QrBody) -> QrCode:
    import segno  # noqa: PLC0415 - slow to load: only those who show a link pay for it

    matrix = cast("Sequence[bytes]", segno.make(body.text, micro=False, error="m").matrix)
    return QrCode(rows=["".join("1" if dark else "0" for dark in row) for row in matrix])
