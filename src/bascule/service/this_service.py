"""The service that runs, or would run, the server of one state folder on this machine."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from bascule.service.launchd import LaunchAgent
from bascule.service.programs import run_program
from bascule.service.systemd import SystemdService
from bascule.service.user_service import UserService

# Where the server looks for its files and its agents; everything else belongs into the config file.
PASSED = ("PATH", "LANG", "BASCULE_DATA_DIR", "BASCULE_CONFIG_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME")


def user_service(data: str | None, environment: Mapping[str, str]) -> UserService:
    """`data` is the state folder that is named in its command; None for the usual one."""
    words = [sys.executable, "-m", "bascule", "up", "--no-open"]
    if data:
        words += ["--data", os.path.abspath(data)]
    passed = {name: environment[name] for name in PASSED if environment.get(name)}
    home = Path.home()
    if sys.platform == "darwin":
        return LaunchAgent(words, passed, home, os.getuid(), run_program)
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return SystemdService(words, passed, config, run_program)


def starts_by_itself(service: UserService, folder: str, usual_folder: str) -> bool:
    """Whether the service that is installed, if one is, starts the server of this state folder."""
    try:
        text = service.file.read_text(errors="replace")
    except OSError:
        return False
    names_folder = folder in text
    if not names_folder and (folder != usual_folder or "--data" in text):
        return False  # it is the service of another folder
    return service.is_wanted()
