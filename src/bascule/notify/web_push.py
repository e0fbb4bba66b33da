"""Web push: encrypts a message for one browser (RFC 8188, 8291) and signs who sends it (RFC 8292).

Needs `cryptography` (the extra `bascule[push]`), which is imported when it is first used.
"""

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Callable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from bascule.model.errors import InvalidInput, NotSupported, StorageFailed
from bascule.notify.keep import Keep, keep_in

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

FILE = "vapid.key"
RECORD_SIZE = 4096
MAX_PLAIN = 3993  # in one record, as RFC 8291 has it
SIGNED_FOR = 12 * 3600  # seconds; push services refuse more than a day
RENEW = 3600  # seconds before that
MISSING = (
    "Web push needs the package cryptography on the server: pip install 'bascule[push]', then restart it."
)


def is_available() -> bool:
    return find_spec("cryptography") is not None


def b64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (NotBase64, ValueError):
        raise InvalidInput("A key of the subscription is not base64.") from None


def check_keys(p256dh: str, auth: str) -> None:
    """Raises `InvalidInput` for keys of a subscription that no message could be encrypted for."""
    _needed()
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - an extra

    if len(unb64(auth)) != 16:
        raise InvalidInput("The secret of the subscription (auth) is not 16 bytes long.")
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(p256dh))
    except ValueError:
        raise InvalidInput("The key of the subscription (p256dh) is not a point of P-256.") from None


def encrypt(
    plain: bytes,
    p256dh: bytes,
    auth: bytes,
    *,
    key: "EllipticCurvePrivateKey | None" = None,
    salt: bytes | None = None,
) -> bytes:
    """The body for the push service. `key` and `salt` are made anew for each message, unless given."""
    _needed()
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    if len(plain) > MAX_PLAIN:
        raise ValueError(f"a push message has at most {MAX_PLAIN} bytes, not {len(plain)}")
    key = key or ec.generate_private_key(ec.SECP256R1())
    salt = salt or os.urandom(16)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), p256dh)
    own = public_bytes(key)
    info = b"WebPush: info\x00" + p256dh + own
    secret = _derived(key.exchange(ec.ECDH(), theirs), auth, info, 32)
    content_key = _derived(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\x00", 12)
    sealed = AESGCM(content_key).encrypt(nonce, plain + b"\x02", None)
    return salt + RECORD_SIZE.to_bytes(4, "big") + bytes([len(own)]) + own + sealed


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    return HKDF(SHA256(), length, salt, info).derive(secret)


def public_bytes(key: "EllipticCurvePrivateKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def topic_of(tag: str) -> str:
    """A message that was not delivered yet is replaced by the next one with the same topic (RFC 8030)."""
    return b64(sha256(tag.encode()).digest())[:32]


class PushKeys:
    """The server's key for web push, made once. Browsers subscribe to its public half."""

    def __init__(self, place: Path | Keep, contact: str, clock: Callable[[], float]) -> None:
        self._keep = keep_in(place)
        self._contact, self._clock = contact, clock
        self._key: EllipticCurvePrivateKey | None = None
        self._signed: dict[str, tuple[str, float]] = {}  # by audience, and when it ends

    @property
    def public(self) -> str:
        return b64(public_bytes(self.key))

    @property
    def key(self) -> "EllipticCurvePrivateKey":
        if self._key is None:
            self._key = self._read_or_make()
        return self._key

    def authorization(self, endpoint: str) -> str:
        """The header that says who sends; signed once for some hours and each push service."""
        parts = urlsplit(endpoint)
        audience, now = f"{parts.scheme}://{parts.netloc}", self._clock()
        signed, ends = self._signed.get(audience, ("", 0.0))
        if not now < ends - RENEW:
            ends = now + SIGNED_FOR
            signed = self._sign({"aud": audience, "exp": int(ends), "sub": self._contact})
            self._signed[audience] = (signed, ends)
        return f"vapid t={signed}, k={self.public}"

    def _sign(self, claims: dict[str, Any]) -> str:
        from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415
        from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

        head = b64(msgspec.json.encode({"typ": "JWT", "alg": "ES256"}))
        text = f"{head}.{b64(msgspec.json.encode(claims))}"
        r, s = utils.decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(SHA256())))
        return f"{text}.{b64(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"

    def _read_or_make(self) -> "EllipticCurvePrivateKey":
        _needed()
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

        stored = self._keep.read(FILE)
        if stored is None:
            made = ec.generate_private_key(ec.SECP256R1())
            self._keep.write(FILE, b64(made.private_numbers().private_value.to_bytes(32, "big")).encode())
            return made
        try:
            kept = unb64(stored.decode("ascii").strip())
            if len(kept) != 32:
                raise ValueError("it is not a key")
            return ec.derive_private_key(int.from_bytes(kept, "big"), ec.SECP256R1())
        except (ValueError, InvalidInput) as error:
            words = f"{FILE} can't be read ({error}); remove it: browsers then have to subscribe again."
            raise StorageFailed(words) from error


def _needed() -> None:
    if not is_available():
        raise NotSupported(MISSING)
