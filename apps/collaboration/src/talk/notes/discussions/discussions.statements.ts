import type { PageRequest } from '@rookery/kernel';
import { isUsualPage, KeptStatements, ListQuery } from '@rookery/persistence';
import type { RowOf, Statement } from '@rookery/persistence';
import { arraySql } from '../../../base/noteables/json.shape';
import type { WrittenShape } from '../../../base/noteables/json.shape';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { noteShape } from '../note.shape';
import type { Note } from '../note.entity';
import { READS_INTERNAL } from '../note-statement';
import type { ReaderParams } from '../note-statement';
import { namedVisibleSql, noteSqlOf, statementsName } from '../notes.statements';
import { discussionBytes, discussionShape, notesOfDiscussionSql } from './discussion.shape';
import { headSql } from './threads-sql';

interface DiscussionParams extends ReaderParams {
  readonly discussion: number;
}

interface ResolveParams {
  readonly noteable: number;
  readonly is_resolved: boolean;
  readonly viewer: number;
}

/** Values of each statement. */
interface Params {
  readonly one: DiscussionParams;
  readonly notes: DiscussionParams;
  readonly note: DiscussionParams & { readonly note: number };
  readonly head: DiscussionParams;
  readonly answer: DiscussionParams & { readonly note: number };
  readonly resolve: ResolveParams & { readonly discussion: number };
  readonly resolve_note: ResolveParams & { readonly note: number };
}

/** Rows of each statement. */
interface Rows {
  readonly one: { readonly json: string | null };
  readonly notes: { readonly json: string | null };
  readonly note: { readonly head: number | null; readonly json: string | null };
  readonly head: DiscussionHead;
  readonly answer: { readonly json: string };
  readonly resolve: never;
  readonly resolve_note: never;
}

/** The note that stands for a discussion, its noteable locked. */
export interface DiscussionHead extends RowOf<Note, 'authorId' | 'system' | 'threadId'> {
  readonly noteable_id: number;
  readonly noteable_author_id: number;
  readonly locked: boolean;
  readonly id: number | null;
}

/** A page of discussions, and how many the reader may see. */
interface DiscussionPageRow {
  readonly counted: number;
  readonly json: string | null;
}

/**
 * The statements on discussions of one kind of noteable. A page is cut among the notes that stand for a discussion, along
 * the index of the notes of a noteable. The notes of its threads are found afterwards. Source: reference work-tracking 3.1, 3.2.
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
  page(page: PageRequest, values: ReaderParams): Statement<DiscussionPageRow> {
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

  /** Any other statement. */
  of<N extends keyof Params>(name: N, values: Params[N]): Statement<Rows[N]> {
    return this.kept.statement(`${this.name}_${name}`, values, () => ({ text: this.sqlOf(name), values }));
  }

  private sqlOf(name: keyof Params): string {
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
          `n.noteable_id = :noteable::bigint and n.noteable_type = '${this.kind.type}' and n.thread_id = :discussion::bigint`,
        );
      case 'resolve_note':
        return resolveSql(`n.id = :note::bigint and n.noteable_id = :noteable::bigint`);
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

  /** A row when the noteable is visible; `json` is null when it has no such discussion for the reader. */
  private ofHead(json: string): string {
    return `select (select ${json} from notes h where ${headSql(this.kind, ':discussion::bigint')}
        and (not h.internal or ${READS_INTERNAL})) as json
      from ${this.kind.table} i where ${this.visible}`;
  }

  /** The same of one note; `json` is null when the discussion has no such note. */
  private noteSql(): string {
    return `select h.id as head, (select ${this.note.sql} from notes n left join directory_users a on a.id = n.author_id
        where n.id = :note::bigint and n.noteable_id = h.noteable_id and n.noteable_type = h.noteable_type
          and coalesce(n.thread_id, n.id) = :discussion::bigint) as json
      from ${this.kind.table} i left join notes h on ${headSql(this.kind, ':discussion::bigint')}
        and (not h.internal or ${READS_INTERNAL})
      where ${this.visible}`;
  }

  /** Facts for a change of the discussion. The noteable is locked, so that changes of its notes take turns. */
  private headSql(): string {
    return `select i.id as noteable_id, i.author_id as noteable_author_id, i.discussion_locked is true as locked,
        h.id, h.author_id, h.system, h.thread_id
      from ${this.kind.table} i left join notes h on ${headSql(this.kind, ':discussion::bigint')}
        and (not h.internal or ${READS_INTERNAL})
      where ${this.visible}
      for no key update of i`;
  }

  /**
   * Takes a new note into the discussion; the statement before wrote it and locked the noteable. A note alone becomes
   * the first of a thread; in a resolved thread the answer is resolved too. No row when the discussion is gone.
   */
  private answerSql(): string {
    return `with head as (
      select h.id, h.resolved_at, h.resolved_by_id from ${this.kind.table} i
      join notes h on ${headSql(this.kind, ':discussion::bigint')} where ${this.visible}
    ), begun as (
      update notes f set thread_id = f.id from head where f.id = head.id and f.thread_id is null
    ), settled as (
      update notes r set resolved_at = head.resolved_at, resolved_by_id = head.resolved_by_id
      from head where r.id = :note::bigint and head.resolved_at is not null
      returning r.*
    ), n as (
      select * from settled
      union all
      select r.* from notes r where r.id = :note::bigint and not exists (select 1 from settled)
    )
    select ${this.note.sql} as json from n join ${this.kind.table} i on i.id = n.noteable_id
    left join directory_users a on a.id = n.author_id
    where exists (select 1 from head)`;
  }
}

/** Notes that are in that state already stay as they are. */
function resolveSql(which: string): string {
  return `update notes n set resolved_at = case when :is_resolved::boolean then now() end,
      resolved_by_id = case when :is_resolved::boolean then :viewer::bigint end, updated_at = greatest(n.updated_at, now())
    where ${which} and n.thread_id is not null and (n.resolved_at is not null) <> :is_resolved::boolean`;
}
