"""Plans that an agent keeps for itself, as in `~/.claude/plans`: no change of the project.

The page has the same rule (js/format.js); tests/fixtures/own_plans.json holds both to it.
"""

import re

PLAN = re.compile(r"/\.[^/.][^/]*/plans/[^/]+\.md$")


def is_own_plan(path: str, cwd: str) -> bool:
    """Whatever else was written outside the folder is shown, above all hidden files such as `~/.bashrc`."""
    outside = path.startswith("/") and not path.startswith(cwd.rstrip("/") + "/")
    return outside and PLAN.search(path) is not None and "/../" not in path
