import type { Tx } from '@rookery/persistence';

/** What an operator decides about, as identity's events of deletion call it. */
export const LOST_KINDS = ['user', 'group', 'project'] as const;
export type LostKind = (typeof LOST_KINDS)[number];

const HELD: Readonly<Record<LostKind, { readonly table: string; readonly name: string; readonly where: string }>> = {
  user: { table: 'directory_users', name: 'username', where: 'true' },
  group: { table: 'directory_namespaces', name: 'full_path', where: `kind = 'group'` },
  project: { table: 'directory_projects', name: 'path', where: 'true' },
};

/**
 * Before the copy is emptied: all of it may be unknown to the history that follows. A thing is the same when its id and
 * the moment of its making are.
 */
export async function suspectAll(tx: Tx): Promise<void> {
  for (const [kind, { table, name, where }] of Object.entries(HELD)) {
    await tx.query(
      `insert into directory_lost (kind, id, name, created_at, state)
       select $1, id, ${name}, created_at, 'looked for' from ${table} where ${where} on conflict do nothing`,
      [kind],
    );
  }
}

/** Once the other history was loaded. Answers how many things are unknown to it. */
export async function settleSuspects(tx: Tx): Promise<number> {
  for (const [kind, { table }] of Object.entries(HELD)) {
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
