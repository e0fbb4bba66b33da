"""A hub whose certificate is not the one this machine trusts is not spoken to: it gets no token."""

import asyncio
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from tests.hub.running_hub import running_hub
from tests.waiting import PATIENCE

from bascule.daemon.hub_lines.joined_hub import JoinedHub
from bascule.daemon.hub_lines.uplink import HubAddress, LineEnd, Send, Uplink
from bascule.link.uplink import UplinkStatus
from bascule.model.errors import InvalidInput

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates"),
]


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    words = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    words += ["-addext", "subjectAltName=IP:127.0.0.1"]
    words += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subprocess.run([*words, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key


async def first_word(url: str) -> UplinkStatus:
    """How the uplink's first attempt went. Its token is one that the hub does not know."""
    told: asyncio.Queue[UplinkStatus] = asyncio.Queue()

    def attach(send: Send, close: object) -> LineEnd:
        raise AssertionError("the hub let a stranger in")

    address = HubAddress(url, "another hub's token", "d1")
    running = asyncio.create_task(
        Uplink(address, attach, time.time, time.monotonic, told.put_nowait).run(), name="uplink"
    )
    try:
        return await asyncio.wait_for(told.get(), PATIENCE)
    finally:
        running.cancel()


@pytest.mark.row("S38")
async def test_a_hub_with_another_certificate_than_the_trusted_one_is_not_spoken_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted, other = certificate(tmp_path, "trusted"), certificate(tmp_path, "other")
    cert, key = (
        Path(shutil.copy(one, tmp_path / name)) for one, name in zip(trusted, ("c", "k"), strict=True)
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted[0]))
    (tmp_path / "hub").mkdir()
    async with running_hub(tmp_path / "hub", tls_cert=str(cert), tls_key=str(key)) as hub:
        url = f"https://127.0.0.1:{hub.port}"
        refused = await first_word(url)
        assert (refused.state, "bascule daemon join" in refused.message) == ("refused", True), refused
        shutil.copy(other[1], key)
        shutil.copy(other[0], cert)
        changed = await first_word(url)
        assert (changed.state, "certificate" in changed.message.lower()) == ("unreachable", True), changed


@pytest.mark.row("S38")
@pytest.mark.parametrize("url", ["http://192.0.2.7:3333", "http://hub.example", "ws://192.0.2.7"])
async def test_no_token_goes_to_another_host_in_the_clear(url: str) -> None:
    """192.0.2.0/24 is nobody's: an attempt would end as `unreachable`."""
    kept = await first_word(url)  # by the note of a hub that was joined before
    assert (kept.state, "not encrypted" in kept.message) == ("refused", True), kept
    notes = WrittenNotes()
    joining = JoinedHub("d1", notes, time.time, time.monotonic)
    with pytest.raises(InvalidInput, match="insecure_hub = true"):
        await joining.join(url, "a token")
    assert (notes.urls, joining.status.state) == ([], "none")


class WrittenNotes:
    def __init__(self) -> None:
        self.urls: list[str] = []

    def write(self, url: str, token: str, may_widen: bool) -> None:
        self.urls.append(url)

    def remove(self) -> None:
        self.urls.clear()
