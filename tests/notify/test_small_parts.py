"""Tokens to deny by, quiet hours, routes by project, who is at the page, and what no address may be."""

import os

import pytest
from msgspec.structs import replace
from tests.notify.requests import Clock

from bascule.model.errors import InvalidInput
from bascule.notify.channels import Channel, check_web_channel
from bascule.notify.delivery import is_push_service
from bascule.notify.deny_tokens import DenyClaims, DenyTokenInvalid, make_token, read_token
from bascule.notify.notice import Notice
from bascule.notify.notice_words import waiting_many
from bascule.notify.page_activity import ACTIVE_SECONDS, AtThePage
from bascule.notify.quiet_hours import checked

CLAIMS = DenyClaims("c1", "s1", "r1", "0" * 64)
KEY = os.urandom(32)


@pytest.mark.row("X2")
def test_a_token_says_exactly_one_request_and_no_other_key_made_it() -> None:
    token = make_token(KEY, CLAIMS)
    assert read_token(KEY, token) == CLAIMS
    other = make_token(os.urandom(32), CLAIMS)
    body, _, signature = token.partition(".")
    longer = make_token(KEY, DenyClaims("c1", "s1", "r2", "0" * 64)).partition(".")[0]
    for wrong in (
        other,
        body,
        f"{body}.",
        f".{signature}",
        f"{longer}.{signature}",
        token + "A",
        "",
        "é.é",
        "a.b.c",
    ):
        with pytest.raises(DenyTokenInvalid):
            read_token(KEY, wrong)


@pytest.mark.parametrize(
    ("start", "end", "inside", "outside"),
    [("22:00", "07:00", (22 * 60, 0, 419), (420, 1319)), ("12:30", "13:00", (750, 779), (749, 780))],
)
def test_quiet_hours_may_pass_midnight(
    start: str, end: str, inside: tuple[int, ...], outside: tuple[int, ...]
) -> None:
    hours = checked(start, end)
    assert all(hours.holds(minute) for minute in inside)
    assert not any(hours.holds(minute) for minute in outside)
    assert not any(checked("", "").holds(minute) for minute in range(1440))


@pytest.mark.parametrize(
    ("start", "end"), [("22:00", ""), ("24:00", "07:00"), ("7:00", "08:00"), ("07:00", "07:00")]
)
def test_wrong_quiet_hours_are_refused_in_words(start: str, end: str) -> None:
    with pytest.raises(InvalidInput, match=r"quiet hours|Quiet hours"):
        checked(start, end)


def test_a_channel_gets_its_kinds_in_its_projects_and_below() -> None:
    channel = Channel(id="c", type="webhook", name="n", kinds=("approval",), projects=("/srv/ana/shop",))
    notice = Notice(tag="t", kind="approval", title="", body="", at="", project="/srv/ana/shop/web")
    assert channel.wants(notice)
    for other in ("/srv/ana/shop2", "/srv/ana", ""):
        assert not channel.wants(replace(notice, project=other))
    assert not channel.wants(replace(notice, kind="question"))
    assert not replace(channel, enabled=False).wants(notice)
    assert replace(channel, projects=()).wants(replace(notice, project=""))


def test_a_folder_is_one_machines_unless_an_earlier_version_kept_it() -> None:
    kept = Channel(id="c", type="webhook", name="n", projects=("d-laptop:/srv/ana/shop", "d-desk:/"))
    notice = Notice(tag="t", kind="approval", title="", body="", at="", project="/srv/ana/shop/web")
    assert kept.wants(replace(notice, device="d-laptop"))
    assert not kept.wants(replace(notice, device="d-other"))
    assert kept.wants(replace(notice, device="d-desk", project="/var/x"))
    assert not kept.wants(replace(notice, device="d-laptop", project="/var/x"))
    assert kept.wants(notice)  # an older log
    earlier = replace(kept, projects=("/srv/ana/shop",))
    assert all(earlier.wants(replace(notice, device=one)) for one in ("", "d-laptop", "d-other"))


def test_one_that_stands_for_several_goes_where_any_of_them_would_and_its_end_to_all() -> None:
    kept = Channel(id="c", type="webhook", name="n", projects=("d-laptop:/srv",))
    one = Notice(tag="t", kind="approval", title="", body="", at="", project="/srv/shop", device="d-laptop")
    assert kept.wants(waiting_many([one, replace(one, device="d-desk")], ""))
    assert not kept.wants(waiting_many([replace(one, device="d-desk")], ""))
    assert kept.wants(waiting_many([], ""))  # what the channel does not show is not replaced
    assert not replace(kept, enabled=False).wants(waiting_many([], ""))


def test_somebody_is_at_the_page_for_a_minute_after_their_last_move() -> None:
    clock = Clock()
    present = AtThePage(clock)
    present.say("one", active=True)
    clock.at += ACTIVE_SECONDS - 1
    present.say("two", active=True)
    clock.at += 2
    assert present.somebody
    present.leave("two")
    assert not present.somebody


@pytest.mark.parametrize(
    ("channel", "words"),
    [
        ({"url": "ftp://x.example"}, "https://"),
        ({"url": "https://a:b@x.example/"}, "password"),
        ({"url": "https://x.example/a b"}, "space"),
        ({"url": "https://x.example/\r\nx: y"}, "space"),
        ({"type": "ntfy", "url": "https://ntfy.example/"}, "topic"),
        ({"type": "telegram", "url": "https://t.example"}, "token and the number"),
        ({"type": "gotify", "url": "https://g.example"}, "token of an application"),
        ({"url": "https://x.example", "secret": "a\nb"}, "no spaces"),
    ],
)
def test_a_wrong_channel_is_refused_with_what_is_wrong(channel: dict[str, object], words: str) -> None:
    given = {"id": "c", "type": "webhook", "name": "n", **channel}
    with pytest.raises(InvalidInput, match=words):
        check_web_channel(Channel(**given))  # pyright: ignore[reportArgumentType]


HOSTS = ("fcm.googleapis.com", "*.push.apple.com", "127.0.0.1:4000")


@pytest.mark.parametrize(
    ("endpoint", "taken"),
    [
        ("https://fcm.googleapis.com/fcm/send/x", True),
        ("https://web.push.apple.com/x", True),
        ("http://127.0.0.1:4000/x", True),
        ("http://fcm.googleapis.com/x", False),
        ("https://fcm.googleapis.com:8443/x", False),
        ("https://fcm.googleapis.com.evil.example/x", False),
        ("https://evilpush.apple.com/x", False),
        ("https://user@fcm.googleapis.com/x", False),
        ("https://127.0.0.1/x", False),
        ("http://127.0.0.1:4001/x", False),
        ("http://169.254.169.254/latest", False),
    ],
)
def test_a_browser_can_have_this_server_write_to_push_services_only(endpoint: str, taken: bool) -> None:
    assert is_push_service(endpoint, HOSTS) is taken
