"""Reports an unexpected exception: logs it with a short id, and gives that id to the caller."""

import logging
import secrets

from bascule.model.errors import Refusal


def report(log: logging.Logger, what: str, error: BaseException) -> Refusal:
    """Log the fault with its traceback; the answer names the log's line and nothing of the inside."""
    fault = secrets.token_hex(4)
    log.error("%s failed (fault %s)", what, fault, exc_info=error)
    words = f"Something went wrong inside Bascule. Its log says what, under fault {fault}."
    return Refusal("INTERNAL_ERROR", words, {"fault": fault})
