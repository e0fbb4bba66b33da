"""`bascule doctor` on what Bascule can do without: what to install is said, and only a need is a warning."""

import pytest

from bascule.commands import doctor_extras
from bascule.commands.doctor_extras import extras
from bascule.commands.doctor_line import Finding
from bascule.daemon.cages.detection import Cage
from bascule.model.capability import Capability
from bascule.model.settings import Settings, StartsSettings
from bascule.notify import desktop, web_push


def found(monkeypatch: pytest.MonkeyPatch, *, there: bool, cage: Cage, ceiling: Capability) -> list[Finding]:
    for module in (web_push, desktop):
        monkeypatch.setattr(module, "is_available", lambda: there)
    monkeypatch.setattr(doctor_extras, "look", lambda environ: cage)
    settings = Settings(data_dir="/d", config_dir="/c", starts=StartsSettings(ceiling=ceiling))
    return list(extras(settings, {}))


def test_what_is_missing_is_named_with_what_to_install_and_is_no_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cage = Cage("none", problem="the kernel has no Landlock, and bubblewrap is not installed")
    push, notifier, without = found(monkeypatch, there=False, cage=cage, ceiling="full")
    assert {one.level for one in (push, notifier, without)} == {"ok"}
    assert (push.what, push.advice.startswith("pip install 'bascule[push]'")) == (
        "web push: not installed",
        True,
    )
    assert notifier.advice.startswith("pip install 'bascule[desktop]'")
    assert without.advice.startswith("sudo apt install bubblewrap")


def test_what_is_there_is_said_without_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    said = found(monkeypatch, there=True, cage=Cage("landlock", 4), ceiling="sandboxed")
    assert [(one.level, one.advice) for one in said] == [("ok", "")] * 3
    assert said[2].what == "cage: landlock, for read_only, sandboxed, project_scoped, full"


def test_a_missing_cage_is_a_warning_where_a_ceiling_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cage = Cage("none", problem="there is none for this system")
    last = found(monkeypatch, there=True, cage=cage, ceiling="sandboxed")[2]
    assert (last.level, last.advice) == ("warn", "")
    assert "starts.ceiling is sandboxed" in last.what
