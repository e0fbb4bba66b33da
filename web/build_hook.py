"""Brings the page's libraries and its bundle into the package before a wheel or editable install is made."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageFiles(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for script in ("vendor.py", "bundle.py"):
            subprocess.run([sys.executable, str(Path(self.root) / "web" / script)], check=True)
