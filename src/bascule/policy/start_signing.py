"""The signature of a trusted browser over one start: the exact text that is signed, and its check.

HMAC-SHA256 with a secret of the machine: every browser and the standard library have it, and both ends belong
to one person, so that a key pair would prove nothing more. The page makes the same text in
`js/start_signing.js`; both are held to `tests/fixtures/start_signatures.json`.
"""

import hashlib
import hmac
from collections.abc import Container
from typing import Any

from msgspec.structs import asdict

from bascule.model.commands import ResumeSession, StartSession

PURPOSE = "bascule start 1"
WINDOW_SECONDS = 120.0  # that the browser's clock may be off, and how long a nonce must be remembered
BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without I, L, O and U, which are misread
CODE_LENGTH = 26  # characters, 130 bits


def key_id(code: str) -> str:
    """Names the secret, and says nothing about it."""
    return hashlib.sha256(b"bascule trust id " + code.encode()).hexdigest()[:16]


def mac_of(code: str, text: bytes) -> str:
    return hmac.new(code.encode(), text, hashlib.sha256).hexdigest()


def signed_text(device: str, command: StartSession | ResumeSession, key: str, at: int, nonce: str) -> bytes:
    """Every field that decides what is run, as pairs of netstrings, sorted by name, without empty ones."""
    fields = _fields(command) | {"device": device, "key": key, "at": str(at), "nonce": nonce}
    pairs = (_netstring(name) + _netstring(value) for name, value in sorted(fields.items()) if value)
    return PURPOSE.encode() + b"\n" + b"".join(pairs)


def _fields(command: StartSession | ResumeSession) -> dict[str, str]:
    if isinstance(command, ResumeSession):
        return {"sessionId": command.session_id}
    options = {_camel(name): _plain(value) for name, value in asdict(command.options).items()}
    images = "".join(f"{image.media_type} {image.data}\n" for image in command.images)
    return options | {
        "agent": command.agent,
        "cwd": command.cwd,
        "prompt": _digest(command.prompt or ""),
        "images": _digest(images),
        "resume": command.resume or "",
        "fork": _plain(command.fork),
        "forkAt": command.fork_at or "",
        "title": command.title or "",
        "driver": command.driver or "",
        "worktree": _plain(command.worktree),
        "worktreeOf": command.worktree_of or "",  # never in a text that a browser signs
    }


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else ""
    return "" if value is None else str(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest() if text else ""


def _netstring(text: str) -> bytes:
    data = text.encode()
    return b"%d:%s," % (len(data), data)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def problem_of(
    code: str, device: str, command: StartSession | ResumeSession, now: float, used: Container[str]
) -> str:
    """Why the signature does not count; empty when it does. `used` are the nonces that were taken before."""
    signature = command.signature
    assert signature is not None, "asked of signed commands only"
    text = signed_text(device, command, signature.key, signature.at, signature.nonce)
    if not hmac.compare_digest(mac_of(code, text), signature.mac):
        return "The signature is not of this start: it was changed on the way, or is for another machine."
    off = signature.at / 1000 - now
    if abs(off) > WINDOW_SECONDS:
        which = "ahead" if off > 0 else "behind"
        return f"The signature's time is {abs(off):.0f} s {which}. Set the browser's clock, and start again."
    if signature.nonce in used:
        return "This signed start came before; each counts once. Start again."
    return ""
