"""Migrations of a PostgreSQL database: numbered SQL files, one hub at a time; and the hubs' role."""

import logging
from pathlib import Path

from bascule.model.errors import StoreRefused
from bascule.store.postgres.asyncpg_module import asyncpg
from bascule.store.postgres.connection import ROLE, SCHEMA, PostgresConnection

log = logging.getLogger(__name__)

_FILES = sorted((Path(__file__).parent / "migrations").glob("[0-9]*.sql"))
VERSION = len(_FILES)
LOCK = "SELECT pg_advisory_lock(1113682787, 1)"  # "Basc", migrations
UNLOCK = "SELECT pg_advisory_unlock(1113682787, 1)"
HAS_VERSIONS = "SELECT to_regclass('bascule.schema_versions') IS NOT NULL"
CURRENT = "SELECT coalesce(max(version), 0) FROM bascule.schema_versions"
VERSIONS = f"""
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.schema_versions (
    version bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now()
);
"""
OWNED = f"SELECT pg_has_role(current_user, nspowner, 'USAGE') FROM pg_namespace WHERE nspname = '{SCHEMA}'"
ROLE_EXISTS = f"SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}'"
IS_MEMBER = f"SELECT pg_has_role(current_user, '{ROLE}', 'MEMBER')"
# Also in the migration; a backup that was restored without privileges has it from here.
NOT_FOR_ALL = f"REVOKE ALL ON FUNCTION {SCHEMA}.drop_log(text) FROM public"
RIGHTS = f"""
GRANT USAGE ON SCHEMA {SCHEMA} TO {ROLE};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {ROLE};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {ROLE};
REVOKE UPDATE, DELETE, TRUNCATE ON {SCHEMA}.events, {SCHEMA}.audit, {SCHEMA}.device_audit FROM {ROLE};
REVOKE INSERT, UPDATE, DELETE ON {SCHEMA}.schema_versions FROM {ROLE};
GRANT EXECUTE ON FUNCTION {SCHEMA}.drop_log(text) TO {ROLE};
"""


def prepare(url: str) -> str | None:
    """Bring the database to this version. Gives the role to serve with; None when there is none to be had."""
    connection = PostgresConnection(url, role=None)
    try:
        connection.execute(LOCK)
        try:
            _migrate(connection)
            return _serving_role(connection)
        finally:
            connection.execute(UNLOCK)
    finally:
        connection.close()


def _migrate(connection: PostgresConnection) -> None:
    version = 0
    if connection.execute(HAS_VERSIONS).fetchone()[0]:
        version = int(connection.execute(CURRENT).fetchone()[0])
    if version > VERSION:
        raise StoreRefused(
            f"The database was written by a newer Bascule (schema {version}, this one knows {VERSION}); "
            "it was left as it is. Update Bascule to open it."
        )
    if version == VERSION:
        return
    try:
        connection.script(VERSIONS)
        for number in range(version + 1, VERSION + 1):
            script = _FILES[number - 1].read_text("utf-8")
            connection.script(
                f"BEGIN; {script}; INSERT INTO {SCHEMA}.schema_versions (version) VALUES ({number:d}); COMMIT"
            )
    except asyncpg.InsufficientPrivilegeError as error:
        raise StoreRefused(
            f"The database has schema {version} and this Bascule needs {VERSION}, which this role may not "
            f"make ({error}). Start one hub with the owner of the database first."
        ) from error
    except asyncpg.PostgresError:
        if connection.in_transaction:
            connection.script("ROLLBACK")
        raise


def _serving_role(connection: PostgresConnection) -> str | None:
    """A role without the right to change the log. Only the owner of the tables can make it."""
    owned = connection.execute(OWNED).fetchone()
    if owned and owned[0]:
        connection.script(NOT_FOR_ALL)
        try:
            if connection.execute(ROLE_EXISTS).fetchone() is None:
                connection.script(f"CREATE ROLE {ROLE} NOLOGIN")
            connection.script(RIGHTS)
            if not connection.execute(IS_MEMBER).fetchone()[0]:
                connection.script(f"GRANT {ROLE} TO CURRENT_USER")
        except asyncpg.InsufficientPrivilegeError as error:
            log.warning(
                "the role %s can't be made (%s): only triggers keep the log from being changed. Give the "
                "database's owner CREATEROLE once, or make the role and grant it to the owner.",
                *(ROLE, error),
            )
            return None
        return ROLE
    if connection.execute(ROLE_EXISTS).fetchone() and connection.execute(IS_MEMBER).fetchone()[0]:
        return ROLE
    return None
