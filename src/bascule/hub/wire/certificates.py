"""TLS certificates from files: a renewed one is used for new connections, without a restart."""

import logging
import os
import ssl

log = logging.getLogger("bascule.hub")

Marks = tuple[tuple[int, int, int], ...]  # of each file: inode, size and time of change


class Certificates:
    """Looks at the files at each handshake: two calls to the system, and nothing that runs in between."""

    def __init__(self, cert: str, key: str) -> None:
        self._cert, self._key = cert, key
        self._seen = self._marks()
        self._renewed: ssl.SSLContext | None = None  # None: those that the server started with

    def renew_for(self, context: ssl.SSLContext) -> None:
        """From now on connections to `context` get the files' certificate as it is then."""
        # OpenSSL calls it for clients that name no host, too.
        context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        marks = self._marks()
        if marks != self._seen:
            self._seen = marks
            self._load()
        if self._renewed is not None:
            connection.context = self._renewed

    def _load(self) -> None:
        fresh = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            fresh.load_cert_chain(self._cert, self._key)
        except (OSError, ssl.SSLError) as error:
            log.warning("the changed certificate %s is not used: %s; the one before stays", self._cert, error)
            return
        self._renewed = fresh
        log.info("the certificate %s was renewed", self._cert)

    def _marks(self) -> Marks:
        return (_mark(self._cert), _mark(self._key))


def _mark(path: str) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0, 0)  # being replaced, or gone: the one before stays
    return (status.st_ino, status.st_size, status.st_mtime_ns)
