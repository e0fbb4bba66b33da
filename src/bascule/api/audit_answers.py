"""Answers of the API about audit logs: their records, copies and verification."""

from msgspec import Raw, field

from bascule.api.view import View


class AuditPage(View, frozen=True, kw_only=True):
    """Audit records as they are, oldest first; `last` is the number to ask for the next page after."""

    records: list[Raw]
    last: int


class AuditCopy(View, frozen=True, kw_only=True):
    """The copy of one audit chain of a machine.

    A machine that was restored from a backup, or whose records were rewritten, begins another chain; the one
    of before is kept, and `differs_at` is its first record that the next chain does not have.
    """

    device: str
    name: str
    chain: int
    current: bool  # the one that the machine sends now
    count: int
    began_at: str
    copied_at: str
    broken_at: int | None = None  # the record that does not follow; it was kept out
    problem: str | None = None
    differs_at: int | None = None


class AuditVerdict(View, frozen=True, kw_only=True):
    """`copies`: of all machines, as they were taken in; of one machine, when it is named, walked as well."""

    ok: bool
    count: int = 0
    bad: int | None = None  # the first record that does not hold
    problem: str | None = None
    copies: list[AuditCopy] = field(default_factory=list[AuditCopy])
