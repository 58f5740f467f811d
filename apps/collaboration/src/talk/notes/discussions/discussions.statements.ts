import type { PageRequest } from '@rookery/kernel';
import { isUsualPage, KeptStatements, ListQuery } from '@rookery/persistence';
import type { Statement } from '@rookery/persistence';
import { arraySql } from '../../../base/noteables/json.shape';
import type { WrittenShape } from '../../../base/noteables/json.shape';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { noteShape } from '../note.shape';
import { namedVisibleSql, noteSqlOf, READS_INTERNAL, statementsName } from '../notes.statements';
import { discussionBytes, discussionShape, notesOfDiscussionSql } from './discussion.shape';
import { headSql } from './threads-sql';

export type DiscussionStatement = 'one' | 'notes' | 'note' | 'head' | 'answer' | 'resolve' | 'resolve_note';

/**
 * The statements on discussions of one kind of noteable. They take the values of those on notes. A page is cut among the
 * notes that stand for a discussion, along the index of the notes of a thing; the notes of its threads are found
 * afterwards. Source: reference work-tracking 3.1, 3.2.
 */
export class DiscussionStatements {
  private readonly kept = new KeptStatements();
  private readonly visible: string;
  private readonly note: WrittenShape;
  private readonly discussion: WrittenShape;
  private readonly name: string;

  constructor(
    private readonly kind: NoteableKind,
    externalUrl: string,
    by: 'id' | 'iid' = kind.shownId,
    referenced: readonly NoteableKind[] = [],
  ) {
    const sql = noteSqlOf(kind, externalUrl, referenced);
    this.name = statementsName(kind, by, referenced.length > 0 ? 'discussions_referring' : 'discussions');
    this.visible = namedVisibleSql(kind, by);
    this.note = noteShape.over(sql);
    this.discussion = discussionShape.over({ ...sql, readsInternal: READS_INTERNAL });
  }

  /** A row when the noteable is visible: how many discussions it has for the reader, and the page as JSON text. */
  page(page: PageRequest, values: readonly unknown[]): Statement {
    const name = isUsualPage(page) ? `${this.name}_page_${page.perPage}` : null;
    return this.kept.statement(name, values, () => {
      const list = new ListQuery<never>({
        name: 'discussions',
        from: 'notes h',
        carries: 'h.*',
        bytes: discussionBytes({ readsInternal: READS_INTERNAL }),
        values,
      })
        .where(
          `h.noteable_id = i.id and h.noteable_type = '${this.kind.type}' and not h.is_reply
          and (not h.internal or ${READS_INTERNAL})`,
        )
        .orderBy([['h.created_at', 'asc']]);
      const rows = list.arraySql(page, (...rows) => arraySql(this.discussion, ...rows));
      return { text: this.pageSql(rows), values: list.values };
    });
  }

  /** Any other statement; what it takes besides the first seven values stands with its text. */
  of(name: DiscussionStatement, values: readonly unknown[]): Statement {
    return this.kept.statement(`${this.name}_${name}`, values, () => ({ text: this.sqlOf(name), values }));
  }

  private sqlOf(name: DiscussionStatement): string {
    switch (name) {
      case 'one':
        return this.ofHead(this.discussion.sql);
      case 'notes':
        return this.ofHead(
          arraySql(this.note, notesOfDiscussionSql({ readsInternal: READS_INTERNAL }), 'n.created_at, n.id'),
        );
      case 'note':
        return this.noteSql();
      case 'head':
        return this.headSql();
      case 'answer':
        return this.answerSql();
      case 'resolve':
        return resolveSql(
          `n.noteable_id = $1::bigint and n.noteable_type = '${this.kind.type}' and n.thread_id = $2::bigint`,
        );
      case 'resolve_note':
        return resolveSql(`n.id = $2::bigint and n.noteable_id = $1::bigint`);
    }
  }

  /** All notes that the reader may see, less those that answer in a thread. */
  private pageSql(rows: string): string {
    const { table, type } = this.kind;
    return `select i.public_notes_count + i.system_notes_count
        + case when ${READS_INTERNAL} then i.internal_notes_count else 0 end
        - (select count(*)::integer from notes r where r.noteable_id = i.id and r.noteable_type = '${type}'
          and r.thread_id is not null and r.is_reply and (not r.internal or ${READS_INTERNAL})) as counted,
      ${rows} as json from ${table} i where ${this.visible}`;
  }

  /** $8 discussion. A row when the noteable is visible; `json` is null when it has no such discussion for the reader. */
  private ofHead(json: string): string {
    return `select (select ${json} from notes h where ${headSql(this.kind, '$8::bigint')}
        and (not h.internal or ${READS_INTERNAL})) as json
      from ${this.kind.table} i where ${this.visible}`;
  }

  /** $8 discussion, $9 note. As above; `note` is null when the discussion has no such note. */
  private noteSql(): string {
    return `select h.id as head, (select ${this.note.sql} from notes n left join directory_users a on a.id = n.author_id
        where n.id = $9::bigint and n.noteable_id = h.noteable_id and n.noteable_type = h.noteable_type
          and coalesce(n.thread_id, n.id) = $8::bigint) as json
      from ${this.kind.table} i left join notes h on ${headSql(this.kind, '$8::bigint')}
        and (not h.internal or ${READS_INTERNAL})
      where ${this.visible}`;
  }

  /** $8 discussion. What a change of it must know; the noteable is locked, so that changes of its notes take turns. */
  private headSql(): string {
    return `select i.id as noteable_id, i.author_id as noteable_author_id, i.discussion_locked is true as locked,
        h.id, h.author_id, h.system, h.thread_id
      from ${this.kind.table} i left join notes h on ${headSql(this.kind, '$8::bigint')}
        and (not h.internal or ${READS_INTERNAL})
      where ${this.visible}
      for no key update of i`;
  }

  /**
   * $8 discussion, $9 the new note in it, written and its noteable locked by the statement before. A note alone becomes
   * the first of a thread; in a resolved thread the answer is resolved too. No row when the discussion went meanwhile.
   */
  private answerSql(): string {
    return `with head as (
      select h.id, h.resolved_at, h.resolved_by_id from ${this.kind.table} i
      join notes h on ${headSql(this.kind, '$8::bigint')} where ${this.visible}
    ), begun as (
      update notes f set thread_id = f.id from head where f.id = head.id and f.thread_id is null
    ), settled as (
      update notes r set resolved_at = head.resolved_at, resolved_by_id = head.resolved_by_id
      from head where r.id = $9::bigint and head.resolved_at is not null
      returning r.*
    ), n as (
      select * from settled
      union all
      select r.* from notes r where r.id = $9::bigint and not exists (select 1 from settled)
    )
    select ${this.note.sql} as json from n join ${this.kind.table} i on i.id = n.noteable_id
    left join directory_users a on a.id = n.author_id
    where exists (select 1 from head)`;
  }
}

/** $3 whether it is resolved, $4 by whom. What is so already stays as it is. */
function resolveSql(which: string): string {
  return `update notes n set resolved_at = case when $3::boolean then now() end,
      resolved_by_id = case when $3::boolean then $4::bigint end, updated_at = greatest(n.updated_at, now())
    where ${which} and n.thread_id is not null and (n.resolved_at is not null) <> $3::boolean`;
}
