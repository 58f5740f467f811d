/**
 * Identity of the database in use, as opposed to one that was restored from its dump, copied from it, or reset to an
 * earlier moment: system identifier, database oid and timeline. It is an SQL expression of type text that takes a few
 * microseconds. A restore into the very same database is not detected. Source: docs/reference/reliability.md 4.5.
 */
export const HISTORY = `((select c.system_identifier from pg_control_system() c)::text || '.' ||
  (select d.oid from pg_database d where d.datname = current_database())::text || '.' || left(pg_walfile_name(pg_current_wal_lsn()), 8))`;
