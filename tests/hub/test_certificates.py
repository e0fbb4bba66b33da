"""A renewed certificate is used for new connections; a broken one is not, and is reported once."""

import asyncio
import logging
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from tests.hub.running_hub import RunningHub, running_hub

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates"),
]


def make(folder: Path, name: str) -> tuple[Path, Path]:
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    words = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    words += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subprocess.run([*words, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return cert, key


async def shown(hub: RunningHub, name: str | None = None) -> bytes:
    """The certificate that a new connection gets, and that the server answers over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", hub.port, ssl=context, server_hostname=name or "127.0.0.1"
    )
    try:
        writer.write(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\n\r\n".encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        return writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    finally:
        writer.transport.abort()


def der(cert: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(cert.read_text())


async def test_new_connections_use_a_renewed_certificate_and_never_a_broken_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = make(tmp_path, "first"), make(tmp_path, "second")
    cert, key = (Path(shutil.copy(one, tmp_path / name)) for one, name in zip(first, ("c", "k"), strict=True))
    (tmp_path / "hub").mkdir()
    async with running_hub(tmp_path / "hub", tls_cert=str(cert), tls_key=str(key)) as hub:
        assert await shown(hub) == der(first[0])
        with caplog.at_level(logging.WARNING, "bascule.hub"):
            cert.write_text("not a certificate")
            assert await shown(hub) == der(first[0])
            assert await shown(hub, "localhost") == der(first[0])
            assert caplog.text.count("is not used") == 1
            # Half of a renewal: this certificate does not belong to the key that is still there.
            shutil.copy(second[0], cert)
            assert await shown(hub) == der(first[0])
            shutil.copy(second[1], key)
            assert await shown(hub) == der(second[0])
            assert await shown(hub, "localhost") == der(second[0])
            cert.unlink()
            assert await shown(hub) == der(second[0])
        assert caplog.text.count("is not used") == 3
