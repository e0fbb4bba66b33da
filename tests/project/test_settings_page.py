"""docs/settings.md is held to the settings structs: every setting, with its text, names and default."""

from pathlib import Path

import pytest
from tests.project.settings_page import TARGET, generate

from bascule.cli import main
from bascule.config.load import FIELDS

ROOT = Path(__file__).parents[2]


def test_the_settings_page_is_what_the_structs_say():
    assert TARGET.read_text() == generate(), "run python -m tests.project.settings_page"


def test_the_settings_page_has_every_setting_once():
    listed = [line[5:-1] for line in generate().splitlines() if line.startswith("### `")]
    assert listed == list(FIELDS)


def test_the_help_names_the_settings_page(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "docs/settings.md" in capsys.readouterr().out
    assert TARGET == ROOT / "docs" / "settings.md"
