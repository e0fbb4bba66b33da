"""Type-checks the page's JavaScript with the locked TypeScript (`make page`).

What checks and tests of the page need from npm is fetched when it is missing; `--fetch` does only that.
"""

import subprocess
import sys

from vendor import HERE, QUIET, node_and_npm

TSC = HERE / "node_modules" / "typescript" / "bin" / "tsc"
AXE = HERE / "node_modules" / "axe-core" / "axe.min.js"


def fetch(npm: list[str]) -> None:
    if not (TSC.is_file() and AXE.is_file()):
        subprocess.run([*npm, "ci", *QUIET], cwd=HERE, check=True)


def main() -> int:
    node, npm = node_and_npm()
    fetch(npm)
    if sys.argv[1:] == ["--fetch"]:
        return 0
    return subprocess.run([node, str(TSC), "-p", "."], cwd=HERE, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
