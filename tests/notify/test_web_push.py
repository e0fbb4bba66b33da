"""Web push: the RFC's own example, an independent decryption, and who signs it."""

import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from tests.notify.push_service import BrowserKeys, verified
from tests.notify.requests import Clock

from bascule.model.errors import InvalidInput, NotSupported, StorageFailed
from bascule.notify import web_push
from bascule.notify.notice import Notice
from bascule.notify.push_message import push_message
from bascule.notify.web_push import (
    MAX_PLAIN,
    RENEW,
    SIGNED_FOR,
    PushKeys,
    check_keys,
    encrypt,
    topic_of,
    unb64,
)

# RFC 8291, section 5 and appendix A
WORDS = b"When I grow up, I want to be a watermelon"
RECEIVER_PRIVATE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
RECEIVER_PUBLIC = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
SENDER_PRIVATE = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
AUTH, SALT = "BTBZMqHH6r4Tts7J_aSIgg", "DGv6ra1nlYgDCS1FRnbzlw"
MESSAGE = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
    "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)
BROWSER = BrowserKeys()


@pytest.mark.row("X2")
def test_the_example_of_the_rfc_comes_out_to_the_byte_and_opens_again() -> None:
    key = ec.derive_private_key(int.from_bytes(unb64(SENDER_PRIVATE), "big"), ec.SECP256R1())
    body = encrypt(WORDS, unb64(RECEIVER_PUBLIC), unb64(AUTH), key=key, salt=unb64(SALT))
    assert body == unb64(MESSAGE)
    browser = BrowserKeys(int.from_bytes(unb64(RECEIVER_PRIVATE), "big"), unb64(AUTH))
    assert browser.public == unb64(RECEIVER_PUBLIC)
    assert browser.decrypt(body) == WORDS


@given(st.binary(max_size=200))
def test_what_is_encrypted_opens_with_the_browsers_secrets_alone(plain: bytes) -> None:
    body = encrypt(plain, BROWSER.public, BROWSER.auth)
    assert BROWSER.decrypt(body) == plain
    assert body != encrypt(plain, BROWSER.public, BROWSER.auth)


def test_the_longest_message_fits_and_a_longer_one_is_refused() -> None:
    assert len(encrypt(bytes(MAX_PLAIN), BROWSER.public, BROWSER.auth)) == 4096
    with pytest.raises(ValueError, match="3993"):
        encrypt(bytes(MAX_PLAIN + 1), BROWSER.public, BROWSER.auth)


def test_a_long_notice_is_cut_to_fit_whatever_its_letters() -> None:
    detail = '\\"' * 300 + "ü€😀" * 1000
    notice = Notice(tag="t", kind="approval", title="x" * 120, body="b", detail=detail, at="", request_id="r")
    message = push_message(notice, "https://b.example", "t" * 400, show_commands=True)
    assert 3000 < len(message) <= MAX_PLAIN


def test_the_signature_names_the_service_and_the_contact_and_is_made_once_for_hours(tmp_path: Path) -> None:
    clock = Clock()
    keys = PushKeys(tmp_path, "mailto:ana@example.org", clock)
    header = keys.authorization("https://push.example:8443/send/abc?x")
    token, _, public = header.removeprefix("vapid t=").partition(", k=")
    assert verified(token, unb64(public)) == {
        "aud": "https://push.example:8443",
        "exp": 1000 + SIGNED_FOR,
        "sub": "mailto:ana@example.org",
    }
    clock.at += SIGNED_FOR - RENEW - 1
    assert keys.authorization("https://push.example:8443/other") == header
    clock.at += 2
    assert keys.authorization("https://push.example:8443/other") != header
    assert keys.authorization("https://elsewhere.example/") != header


@pytest.mark.row("S60")
def test_the_servers_key_is_made_once_and_private(tmp_path: Path) -> None:
    first = PushKeys(tmp_path, "", Clock()).public
    assert PushKeys(tmp_path, "", Clock()).public == first
    file = tmp_path / web_push.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("nonsense!")
    with pytest.raises(StorageFailed, match="remove it"):
        _ = PushKeys(tmp_path, "", Clock()).public


@pytest.mark.parametrize(
    ("p256dh", "auth", "words"),
    [
        (RECEIVER_PUBLIC, "AAAA", "16 bytes"),
        ("AAAA", AUTH, "point of P-256"),
        ("B" + "A" * 86, AUTH, "point of P-256"),
        ("é", AUTH, "base64"),
    ],
)
def test_keys_that_nothing_can_be_encrypted_for_are_refused(p256dh: str, auth: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_keys(p256dh, auth)


def test_without_the_package_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_push, "find_spec", lambda name: None)
    with pytest.raises(NotSupported, match=r"bascule\[push\]"):
        _ = PushKeys(tmp_path, "", Clock()).public
    assert not (tmp_path / web_push.FILE).exists()


def test_a_topic_is_short_and_of_one_tag() -> None:
    assert len(topic_of("request s1 r1")) == 32
    assert topic_of("a") != topic_of("b")
