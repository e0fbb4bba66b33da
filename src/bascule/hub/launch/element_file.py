"""The file of `<bascule-launch>`: its modules as one without imports, which a site can host itself."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from bascule.launch.gate import API_VERSION

NAME = "bascule-launch.js"
# In the order in which each needs only those before it.
MODULES = (
    "js/delta.js",
    "element/words.js",
    "element/look.js",
    "element/reach.js",
    "element/launch_window.js",
    "element/dialog.js",
    "element/prompt.js",
    "element/launch.js",
)
_IMPORT = re.compile(r"^import\s[^;]*;\n", re.M)
_EXPORT = re.compile(r"^export (?=const|class|function|async)", re.M)
_PUBLIC = ("deltaToText", "deltaToMarkdown", "BasculeLaunch")


@cache
def element_file() -> bytes:
    web = files("bascule") / "web"
    texts = [(web / path).read_text(encoding="utf-8") for path in MODULES]
    head = f"// <bascule-launch> for bridge version {API_VERSION}: part of Bascule, MIT licence.\n"
    joined = "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts)
    return f"{head}{joined}\nexport {{ {', '.join(_PUBLIC)} }};\n".encode()


def integrity() -> str:
    """For a script's `integrity` attribute."""
    return "sha384-" + base64.b64encode(hashlib.sha384(element_file()).digest()).decode()
