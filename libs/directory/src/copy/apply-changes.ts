import { createHash } from 'node:crypto';
import { DIRECTORY_KINDS } from '@rookery/contracts';
import type { DirectoryChange, DirectoryKind, Schema } from '@rookery/contracts';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

const TABLES: Readonly<Record<DirectoryKind, string>> = {
  user: 'directory_users',
  namespace: 'directory_namespaces',
  project: 'directory_projects',
  membership: 'directory_memberships',
  share: 'directory_shares',
};
const KINDS = Object.keys(TABLES) as DirectoryKind[];
/** Checksum of the kinds and fields of the copy. It differs when the fields differ. */
export const FIELDS = createHash('sha256')
  .update(JSON.stringify(KINDS.map((kind) => [kind, Object.keys(DIRECTORY_KINDS[kind].fields)])))
  .digest('hex')
  .slice(0, 12);
const UPSERTS = new Map(
  KINDS.map((kind) => [kind, prepareStatement(`directory_upsert_${kind}`, upsertDirectoryRowsSql(kind))]),
);

/**
 * Stores the newest state of each changed row in the copy's tables, with two statements for each kind. Kinds that the
 * copy does not have, such as tokens, are ignored.
 */
export async function applyChanges(tx: Tx, changes: readonly DirectoryChange[]): Promise<void> {
  for (const [kind, states] of newestStatesByKind(changes)) {
    const gone = [...states].filter(([, state]) => state === null).map(([id]) => id);
    const present = [...states.values()].filter((state) => state !== null);
    if (gone.length > 0) await tx.query(`delete from ${TABLES[kind]} where id = any($1::bigint[])`, [gone]);
    if (present.length > 0) await tx.prepared(UPSERTS.get(kind)!, [JSON.stringify(present)]);
  }
}

/** Empties the copy before another history is loaded. */
export async function emptyDirectoryCopy(tx: Tx): Promise<void> {
  for (const kind of KINDS) await tx.query(`delete from ${TABLES[kind]}`);
}

function newestStatesByKind(
  changes: readonly DirectoryChange[],
): ReadonlyMap<DirectoryKind, ReadonlyMap<number, Record<string, unknown> | null>> {
  const byKind = new Map<DirectoryKind, Map<number, Record<string, unknown> | null>>();
  for (const { kind, id, state } of changes) {
    if (!Object.hasOwn(TABLES, kind)) continue;
    const states = byKind.get(kind as DirectoryKind) ?? new Map<number, Record<string, unknown> | null>();
    byKind.set(kind as DirectoryKind, states.set(id, state));
  }
  return byKind;
}

function upsertDirectoryRowsSql(kind: DirectoryKind): string {
  const fields = Object.entries<Schema>(DIRECTORY_KINDS[kind].fields);
  const names = fields.map(([name]) => name).join(', ');
  const record = fields.map(([name, schema]) => `${name} ${sqlColumnTypeOf(name, schema)}`).join(', ');
  const updates = fields
    .filter(([name]) => name !== 'id')
    .map(([name]) => `${name} = excluded.${name}`)
    .join(', ');
  return `insert into ${TABLES[kind]} (${names})
    select ${names} from jsonb_to_recordset($1::jsonb) as state(${record})
    on conflict (id) do update set ${updates}`;
}

function sqlColumnTypeOf(name: string, schema: Schema): string {
  if (name.endsWith('_on')) return 'date';
  switch (schema.kind) {
    case 'nullable':
      return sqlColumnTypeOf(name, schema.of);
    case 'list':
      return `${sqlColumnTypeOf(name, schema.of)}[]`;
    case 'int':
      return 'bigint';
    case 'bool':
      return 'boolean';
    case 'instant':
      return 'timestamptz';
    case 'object':
      return 'jsonb';
    default:
      return 'text';
  }
}
