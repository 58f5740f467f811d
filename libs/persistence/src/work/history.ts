/**
 * What tells the database in use from one that was restored from its dump, copied from it, or brought back to an earlier
 * moment: system identifier, database oid and timeline. Shape: an SQL expression of type text; a few microseconds.
 * What is put back into the very same database cannot be told by it. Source: docs/reference/reliability.md 4.5.
 */
export const HISTORY = `((select c.system_identifier from pg_control_system() c)::text || '.' ||
  (select d.oid from pg_database d where d.datname = current_database())::text || '.' || left(pg_walfile_name(pg_current_wal_lsn()), 8))`;
