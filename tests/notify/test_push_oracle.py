"""Web push beside http_ece, the encryption that pywebpush is built on: each opens what the other sealed."""

import asyncio
import json
from pathlib import Path
from typing import cast

import http_ece  # pyright: ignore[reportMissingTypeStubs]
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from tests.hub.running_hub import running_hub
from tests.notify import test_web_push as rfc
from tests.notify.push_service import BrowserKeys, receiver
from tests.waiting import PATIENCE

from bascule.model.settings import NotifySettings
from bascule.notify.web_push import MAX_PLAIN, encrypt, unb64

BROWSER = BrowserKeys()
MESSAGES = st.binary(min_size=1, max_size=MAX_PLAIN)


def private(number: int) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(number, ec.SECP256R1())


def opened_by_the_oracle(body: bytes, browser: BrowserKeys) -> bytes:
    opened = http_ece.decrypt(body, private_key=private(browser.private), auth_secret=browser.auth)
    return cast("bytes", opened)


def sealed_by_the_oracle(
    plain: bytes, browser: BrowserKeys, key: ec.EllipticCurvePrivateKey, salt: bytes | None = None
) -> bytes:
    sealed = http_ece.encrypt(plain, salt=salt, private_key=key, dh=browser.public, auth_secret=browser.auth)
    return cast("bytes", sealed)


@pytest.mark.row("X2")
@given(MESSAGES)
def test_the_oracle_opens_what_is_sealed_here(plain: bytes) -> None:
    assert opened_by_the_oracle(encrypt(plain, BROWSER.public, BROWSER.auth), BROWSER) == plain


@pytest.mark.row("X2")
@given(MESSAGES)
def test_what_the_oracle_seals_opens_with_the_tests_own_browser(plain: bytes) -> None:
    body = sealed_by_the_oracle(plain, BROWSER, ec.generate_private_key(ec.SECP256R1()))
    assert BROWSER.decrypt(body) == plain


@pytest.mark.row("X2")
def test_with_the_keys_of_the_rfc_both_seal_the_same_bytes_and_both_open_them() -> None:
    browser = BrowserKeys(int.from_bytes(unb64(rfc.RECEIVER_PRIVATE), "big"), unb64(rfc.AUTH))
    key, salt = private(int.from_bytes(unb64(rfc.SENDER_PRIVATE), "big")), unb64(rfc.SALT)
    ours = encrypt(rfc.WORDS, browser.public, browser.auth, key=key, salt=salt)
    assert ours == sealed_by_the_oracle(rfc.WORDS, browser, key, salt) == unb64(rfc.MESSAGE)
    assert opened_by_the_oracle(ours, browser) == browser.decrypt(ours) == rfc.WORDS


def test_a_message_that_was_changed_or_is_for_another_browser_opens_with_neither() -> None:
    body = encrypt(b"words", BROWSER.public, BROWSER.auth)
    changed = body[:-1] + bytes([body[-1] ^ 1])
    for message, browser in ((changed, BROWSER), (body, BrowserKeys())):
        with pytest.raises(http_ece.ECEException):
            opened_by_the_oracle(message, browser)
        with pytest.raises(InvalidTag):
            browser.decrypt(message)


@pytest.mark.row("X2")
@pytest.mark.anyio
async def test_a_push_that_a_hub_sent_opens_with_the_oracle_and_says_the_same(tmp_path: Path) -> None:
    async with receiver() as service:
        notify = NotifySettings(push_hosts=(f"127.0.0.1:{service.port}",))
        async with running_hub(tmp_path, notify=notify) as hub, hub.client(hub.tokens["owner"]) as client:
            hub.services.notifier.decider.grace = 0.0
            body = {"endpoint": f"{service.url}/1", **BROWSER.subscription}
            assert (await client.post("/api/notifications/push", json=body)).status_code == 200
            await hub.session()
            await hub.ask_permission("s1")
            request = await asyncio.wait_for(service.requests.get(), PATIENCE)
            opened = opened_by_the_oracle(request.body, BROWSER)
            assert opened == BROWSER.decrypt(request.body)
            assert json.loads(opened)["notification"]["tag"] == "request s1 r1"
