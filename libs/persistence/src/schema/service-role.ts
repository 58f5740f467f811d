/** Sends a statement to the database that is migrated, as the owner of its tables. */
type Ask = (text: string, values?: unknown[]) => Promise<unknown>;

/** Schemas of ours: all except those of PostgreSQL. */
const SCHEMAS = `select oid, nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'`;

/** One sentence for each right of the role $1 that goes beyond rows; the name of the role is its subject. */
const EXCESSIVE_RIGHTS = `
  with schemas as (${SCHEMAS})
  select format('may act as %I, which migrates', current_user) as excess
   where pg_has_role($1, current_user, 'member')
  union all
  select 'owns the ' || pg_describe_object(classid, objid, objsubid) from pg_shdepend
   where refclassid = 'pg_authid'::regclass and deptype = 'o' and
         refobjid = (select oid from pg_roles where rolname = $1) and
         ((select oid from pg_database where datname = current_database()) in (dbid, case dbid when 0 then objid end))
  union all
  select 'may create schemas' where has_database_privilege($1, current_database(), 'create')
  union all
  select format('may create tables in the schema %I', nspname) from schemas where has_schema_privilege($1, oid, 'create')
  union all
  select format('may truncate the table %s or add triggers to it', c.oid::regclass)
    from pg_class c join schemas s on s.oid = c.relnamespace
   where c.relkind in ('r', 'p') and has_table_privilege($1, c.oid, 'truncate, trigger')`;

/**
 * Grants that the role $1 lacks, as statements. Objects of other owners, such as those of an extension, are left out. The
 * tables `migrations`, ours and that of the job queue, are read only.
 */
const MISSING_GRANTS = `
  with schemas as (${SCHEMAS}), missing as (
    select format('connect on database %I', current_database()) as rights
     where not has_database_privilege($1, current_database(), 'connect')
    union all
    select format('usage on schema %I', nspname) from schemas where not has_schema_privilege($1, oid, 'usage')
    union all
    select format('%s on table %s', right_to, c.oid::regclass)
      from pg_class c join schemas s on s.oid = c.relnamespace,
           unnest(case c.relname when 'migrations' then array['select'] else array['select', 'insert', 'update', 'delete'] end) right_to
     where c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_has_role(c.relowner, 'usage') and
           not has_table_privilege($1, c.oid, right_to)
    union all
    select format('%s on sequence %s', right_to, c.oid::regclass)
      from pg_class c join schemas s on s.oid = c.relnamespace, unnest(array['usage', 'select', 'update']) right_to
     where c.relkind = 'S' and pg_has_role(c.relowner, 'usage') and not has_sequence_privilege($1, c.oid, right_to)
    union all
    select format('execute on routine %s', p.oid::regprocedure)
      from pg_proc p join schemas s on s.oid = p.pronamespace
     where pg_has_role(p.proowner, 'usage') and not has_function_privilege($1, p.oid, 'execute')
  )
  select format('grant %s to %I', rights, $1) as statement from missing`;

/**
 * Grants the role of a running service the rights to rows: to read, insert, update and delete those of all tables, to use
 * sequences and to call functions. Rights that exist are not granted again, so that a repetition changes nothing. Returns
 * the number of grants. Errors: the role does not exist, or has rights beyond rows; the message names the first.
 * Source: reference reliability 9.3; ADR 0211.
 */
export async function grantRightsToRows(ask: Ask, role: string): Promise<number> {
  const named = `the role "${role}" of DATABASE_SERVICE_ROLE`;
  const known = (await ask('select 1 from pg_roles where rolname = $1', [role])) as unknown[];
  if (known.length === 0) throw new Error(`${named} does not exist: create it, with the right to sign in`);
  const excessive = (await ask(EXCESSIVE_RIGHTS, [role])) as { excess: string }[];
  if (excessive[0]) throw new Error(`${named} ${excessive[0].excess}: docs/operations.md 7 takes such rights away`);
  const missing = (await ask(MISSING_GRANTS, [role])) as { statement: string }[];
  // One text is one transaction.
  if (missing.length > 0) await ask(missing.map(({ statement }) => statement).join(';\n'));
  return missing.length;
}
