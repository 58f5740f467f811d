import { prepareStatement } from '@rookery/persistence';
import type { PreparedStatement, Tx } from '@rookery/persistence';

/** Table of the assignees or reviewers of one kind. It has the columns `noteable`, user_id and position. */
export interface PeopleTable {
  readonly table: string;
  /** Column of the noteable: `issue_id`. */
  readonly noteable: string;
  /** First words of the statements that write it, so that the table's owner is visible where it is declared. */
  readonly writes: { readonly insert: string; readonly remove: string };
}

/** Statements on one such table. */
export class AssignedPeopleList {
  private readonly assigned: PreparedStatement;
  private readonly write: PreparedStatement;
  private readonly clear: PreparedStatement;

  constructor(private readonly declared: PeopleTable) {
    const { table, noteable, writes } = declared;
    this.assigned = prepareStatement(
      `${table}_of`,
      `select user_id from ${table} where ${noteable} = $1::bigint order by position`,
    );
    this.write = prepareStatement(
      `${table}_write`,
      `${writes.insert} (${noteable}, user_id, position)
   select $1::bigint, chosen.user_id, chosen.place from unnest($2::bigint[]) with ordinality as chosen (user_id, place)
   on conflict (${noteable}, user_id) do update set position = excluded.position`,
    );
    this.clear = prepareStatement(
      `${table}_clear`,
      `${writes.remove} where ${noteable} = $1::bigint and user_id <> all($2::bigint[])`,
    );
  }

  /** Subquery for the people of one noteable, with the column `user_id`. `id` is an SQL expression. */
  ofSql(id: string): string {
    const { table, noteable } = this.declared;
    return `(select s.user_id from ${table} s where s.${noteable} = ${id})`;
  }

  /** FROM item and condition for the rows `s` of the people of the noteable `i`. */
  get ofNoteable(): string {
    const { table, noteable } = this.declared;
    return `${table} s where s.${noteable} = i.id`;
  }

  /** Returns the ids of the people in their order. */
  async userIds(tx: Tx, noteableId: number): Promise<number[]> {
    const rows = await tx.prepared<{ user_id: number }>(this.assigned, [noteableId]);
    return rows.map((row) => row.user_id);
  }

  /** Sets the people to exactly these users, in this order. `before` are the ids of the previous ones. */
  async setUsers(tx: Tx, noteableId: number, before: readonly number[], userIds: readonly number[]): Promise<void> {
    if (before.some((id) => !userIds.includes(id))) await tx.prepared(this.clear, [noteableId, userIds]);
    if (userIds.length > 0) await tx.prepared(this.write, [noteableId, userIds]);
  }
}
