"""Writes preload links for all modules into the page, so that a browser requests them at once.

The modules are plain files that name each other; without this a browser finds out file by file.
"""

import re
from collections.abc import Mapping
from posixpath import dirname, join, normpath

FROM = re.compile(r"""^(?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*['"]([^'"]+)['"]""", re.MULTILINE)
ENTRY = re.compile(r'( *)<script type="module" src="/assets/([^"]+)"( crossorigin)?></script>\n')


def imports(source: str) -> list[str]:
    """The addresses in a module's static imports, as written. `import()` is for later, so it is no part."""
    return FROM.findall(source)


def closure(entry: str, sources: Mapping[str, str]) -> list[str]:
    """All modules that run before `entry` does, the nearest first, by path below one root."""
    found = [entry]
    for path in found:
        named = [normpath(join(dirname(path), one)) for one in imports(sources[path])]
        found += [one for one in dict.fromkeys(named) if one in sources and one not in found]
    return found[1:]


def linked(page: str, sources: Mapping[str, str], version: str) -> str:
    """The page with its files at the addresses of this version, and a link for each module it will need."""

    def announce(script: re.Match[str]) -> str:
        indent, entry, crossorigin = script[1], script[2], script[3] or ""
        preloads = [
            f'{indent}<link rel="modulepreload" href="/assets/{path}"{crossorigin}>\n'
            for path in closure(entry, sources)
        ]
        return script[0] + "".join(preloads)

    return ENTRY.sub(announce, page).replace('="/assets/', f'="/assets/{version}/')
