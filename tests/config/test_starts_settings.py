"""The settings for starts from elsewhere: what can't work is refused when the server starts."""

import pytest

from bascule.config.checks import check
from bascule.model.settings import Settings, StartsSettings


@pytest.mark.row("R17")
@pytest.mark.parametrize(
    ("starts", "wrong"),
    [
        (StartsSettings(), None),
        (StartsSettings(approval="oob_confirm"), "starts.approval"),
        (StartsSettings(unusual="oob_confirm"), "starts.unusual"),
        (StartsSettings(approval="oob_confirm", command=("mail",)), None),
        (StartsSettings(webhook="https://hooks.example/x"), None),
        (StartsSettings(webhook="http://127.0.0.1:8000/x"), None),
        (StartsSettings(webhook="http://hooks.example/x"), "starts.webhook"),
        (StartsSettings(webhook="hooks.example"), "starts.webhook"),
        (StartsSettings(wait_seconds=0), "starts.wait_seconds"),
        (StartsSettings(block_seconds=-1), "starts.block_seconds"),
    ],
)
def test_settings_that_can_t_work_are_named(starts: StartsSettings, wrong: str | None) -> None:
    problem = check(Settings(data_dir="/d", config_dir="/c", starts=starts))
    assert (problem.key if problem else None) == wrong
