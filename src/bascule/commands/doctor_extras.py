"""Optional parts, as lines of `bascule doctor`: each says what is missing and how to install it."""

from collections.abc import Iterator, Mapping

from bascule.commands.doctor_line import Finding
from bascule.daemon.cages.detection import Cage, look
from bascule.model.settings import Settings
from bascule.notify import desktop, web_push

PUSH = "pip install 'bascule[push]' (only notifications of browsers need it)"
DESKTOP = "pip install 'bascule[desktop]' (only notifications on this desktop need it)"
LEVELS = "only levels below full need one"


def extras(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Nothing of it is wrong, so nothing is a warning, but for a level that can't be had and is asked for."""
    yield _package("web push", web_push.is_available(), PUSH)
    yield _package("desktop notifications", desktop.is_available(), DESKTOP)
    yield _cage(look(environ), settings)


def _package(name: str, there: bool, advice: str) -> Finding:
    return Finding("ok", f"{name}: {'installed' if there else 'not installed'}", "" if there else advice)


def _cage(cage: Cage, settings: Settings) -> Finding:
    if cage.kind != "none":
        return Finding("ok", f"cage: {cage.kind}, for {', '.join(cage.levels())}")
    advice = "sudo apt install bubblewrap" if "not installed" in cage.problem else ""
    ceiling = settings.starts.ceiling
    if ceiling != "full":
        return Finding("warn", f"cage: none ({cage.problem}), and starts.ceiling is {ceiling}", advice)
    return Finding("ok", f"cage: none ({cage.problem})", f"{advice} ({LEVELS})" if advice else LEVELS)
