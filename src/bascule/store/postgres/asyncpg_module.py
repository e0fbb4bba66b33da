"""asyncpg, which comes with the extra `bascule[postgres]` and has no types of its own."""

from importlib import import_module
from typing import Any

from bascule.model.errors import StoreRefused

try:
    asyncpg: Any = import_module("asyncpg")
except ModuleNotFoundError as missing:
    raise StoreRefused(
        "A store in PostgreSQL needs asyncpg, which is not installed. Install it with: "
        "pip install 'bascule[postgres]'"
    ) from missing
