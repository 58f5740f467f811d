import type { Tx } from '@rookery/persistence';

/** Kinds of records that an operator decides about, as in identity's deletion events. */
export const LOST_KINDS = ['user', 'group', 'project'] as const;
type LostKind = (typeof LOST_KINDS)[number];

const TABLES: Readonly<Record<LostKind, { readonly table: string; readonly name: string; readonly where: string }>> = {
  user: { table: 'directory_users', name: 'username', where: 'true' },
  group: { table: 'directory_namespaces', name: 'full_path', where: `kind = 'group'` },
  project: { table: 'directory_projects', name: 'path', where: 'true' },
};

/**
 * Marks all records of the copy as possibly lost. Called before the copy is emptied for another history. Records are
 * the same when their ids and creation times are.
 */
export async function markDirectoryRecordsMaybeLost(tx: Tx): Promise<void> {
  for (const [kind, { table, name, where }] of Object.entries(TABLES)) {
    await tx.query(
      `insert into directory_lost (kind, id, name, created_at, state)
       select $1, id, ${name}, created_at, 'looked for' from ${table} where ${where} on conflict do nothing`,
      [kind],
    );
  }
}

/** Unmarks the records that the loaded history has. Returns the number of lost records. */
export async function confirmLostDirectoryRecords(tx: Tx): Promise<number> {
  for (const [kind, { table }] of Object.entries(TABLES)) {
    await tx.query(
      `delete from directory_lost l using ${table} t
       where l.kind = $1 and t.id = l.id and t.created_at = l.created_at`,
      [kind],
    );
  }
  const found = await tx.query<{ id: number }>(
    `update directory_lost set state = 'open', noticed_at = now() where state = 'looked for' returning id`,
  );
  return found.length;
}
