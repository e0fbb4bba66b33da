"""What a start needs, for every mode of approval: pure, without a machine."""

import pytest

from bascule.model.commands import Actor
from bascule.model.settings import Approval, Confirmation, StartsSettings
from bascule.policy.start_approval import Signed, Verdict, is_remote, judge

UNSIGNED = Signed()
NEW = ("first time from this address",)


def judged(
    approval: Approval,
    *,
    remote: bool = True,
    unusual: Confirmation | None = None,
    blocked: str = "",
    signed: Signed = UNSIGNED,
    reasons: tuple[str, ...] = (),
    command: tuple[str, ...] = (),
) -> Verdict:
    settings = StartsSettings(approval=approval, unusual=unusual, command=command)
    return judge(settings, "laptop", remote=remote, blocked=blocked, signed=signed, reasons=reasons)


@pytest.mark.row("R17")
@pytest.mark.parametrize(
    ("approval", "does", "confirm"),
    [
        ("notify_only", "start", "notify_only"),
        ("local_confirm", "hold", "local_confirm"),
        ("oob_confirm", "hold", "oob_confirm"),
        ("trusted_browsers", "refuse", "notify_only"),
        ("auto", "start", "notify_only"),
    ],
)
def test_an_unsigned_start_from_elsewhere_gets_what_the_mode_says(
    approval: Approval, does: str, confirm: str
) -> None:
    verdict = judged(approval)
    assert (verdict.does, verdict.confirm) == (does, confirm)
    assert verdict.notify is (approval == "notify_only")


@pytest.mark.row("R17")
@pytest.mark.parametrize("approval", ["local_confirm", "oob_confirm", "trusted_browsers"])
def test_a_signed_start_passes_every_mode_and_is_announced(approval: Approval) -> None:
    assert judged(approval, signed=Signed("phone")) == Verdict("start", notify=True)


@pytest.mark.row("R17")
def test_a_start_on_the_machine_itself_passes_even_while_others_are_blocked() -> None:
    verdict = judged("trusted_browsers", remote=False, unusual="oob_confirm", blocked="18:00", reasons=NEW)
    assert verdict == Verdict("start")


@pytest.mark.row("R17", "R20")
def test_while_starts_are_blocked_a_signature_does_not_help() -> None:
    verdict = judged("auto", blocked="2026-01-02 18:00", signed=Signed("phone"))
    assert verdict.does == "refuse"
    assert verdict.why == "laptop takes no starts from elsewhere until 2026-01-02 18:00."


@pytest.mark.row("R17")
def test_a_refusal_says_how_to_be_trusted_or_what_was_wrong_with_the_signature() -> None:
    assert "bascule trust generate --browser" in judged("trusted_browsers").why
    assert judged("trusted_browsers", signed=Signed(problem="It is old.")).why == "It is old."


@pytest.mark.row("R19")
@pytest.mark.parametrize(
    ("approval", "unusual", "signed", "wanted"),
    [
        ("notify_only", "notify_only", "", ("start", "notify_only")),
        ("notify_only", "local_confirm", "", ("hold", "local_confirm")),
        ("local_confirm", "oob_confirm", "", ("hold", "oob_confirm")),
        ("oob_confirm", "local_confirm", "", ("hold", "oob_confirm")),
        ("trusted_browsers", "local_confirm", "phone", ("hold", "local_confirm")),
        ("trusted_browsers", "oob_confirm", "", ("refuse", "notify_only")),
        ("auto", "oob_confirm", "", ("hold", "oob_confirm")),
    ],
)
def test_an_unusual_start_is_confirmed_in_the_stricter_way(
    approval: Approval, unusual: Confirmation, signed: str, wanted: tuple[str, str]
) -> None:
    verdict = judged(approval, unusual=unusual, signed=Signed(signed), reasons=NEW)
    assert (verdict.does, verdict.confirm) == wanted


@pytest.mark.row("R19")
@pytest.mark.parametrize(
    ("approval", "command", "signed", "wanted"),
    [
        ("notify_only", (), "", ("start", "notify_only")),
        ("notify_only", ("mail",), "", ("hold", "oob_confirm")),
        ("local_confirm", ("mail",), "", ("hold", "oob_confirm")),
        ("local_confirm", (), "", ("hold", "local_confirm")),
        ("oob_confirm", ("mail",), "phone", ("start", "notify_only")),
        ("trusted_browsers", ("mail",), "phone", ("start", "notify_only")),
        ("trusted_browsers", ("mail",), "", ("refuse", "notify_only")),
        ("auto", ("mail",), "", ("start", "notify_only")),
    ],
)
def test_unless_said_an_unusual_start_is_held_where_its_owner_can_be_reached_and_announced_elsewhere(
    approval: Approval, command: tuple[str, ...], signed: str, wanted: tuple[str, str]
) -> None:
    verdict = judged(approval, signed=Signed(signed), reasons=NEW, command=command)
    assert (verdict.does, verdict.confirm) == wanted
    if verdict.does == "start":
        assert verdict.notify is (approval != "auto")
    usual = judged(approval, signed=Signed(signed), command=command)
    assert usual.does == ("start" if approval == "notify_only" or signed else judged(approval).does)


@pytest.mark.row("R17")
@pytest.mark.parametrize(
    ("address", "via", "remote"),
    [
        ("127.0.0.1", "", False),
        ("::1", "", False),
        ("", "", False),
        ("192.168.1.5", "", True),
        ("not an address", "", True),
        ("127.0.0.1", "hub", True),
        ("", "hub", True),
    ],
)
def test_remote_is_what_comes_by_a_hub_or_from_another_address(address: str, via: str, remote: bool) -> None:
    assert is_remote(Actor("ana", address=address, via=via)) is remote
