import type { PageRequest } from '@rookery/kernel';
import { isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { RowOf, Statement } from '@rookery/persistence';
import { jsonArraySql } from '../../../base/noteables/json.shape';
import type { ShapeSql } from '../../../base/noteables/json.shape';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { keyColumn } from '../../../base/noteables/references.shape';
import { noteShapeOf } from '../note.shape';
import type { Note, ResolvedNote } from '../note.entity';
import { READS_INTERNAL } from '../note-statement';
import type { ReaderParams } from '../note-statement';
import { isNamedNoteableVisibleSql, noteSqlOf, noteableStatementName } from '../notes.statements';
import { discussionBytesSql, discussionShapeOf, notesOfDiscussionSql } from './discussion.shape';
import { discussionHeadJoinSql } from './threads-sql';

interface DiscussionParams extends ReaderParams {
  readonly discussion: number;
}

interface ResolveParams {
  readonly noteable: number;
  readonly is_resolved: boolean;
  readonly viewer: number;
}

/** Parameters of each statement. */
interface DiscussionStatementParams {
  readonly one: DiscussionParams;
  readonly notes: DiscussionParams;
  readonly note: DiscussionParams & { readonly note: number };
  readonly head: DiscussionParams;
  readonly answer: DiscussionParams & { readonly note: number };
  readonly resolve: ResolveParams & { readonly discussion: number };
  readonly resolve_note: ResolveParams & { readonly note: number };
}

/** Rows of each statement. */
interface DiscussionStatementRows {
  readonly one: { readonly json: string | null };
  readonly notes: { readonly json: string | null };
  readonly note: { readonly head: number | null; readonly json: string | null };
  readonly head: DiscussionHead;
  readonly answer: { readonly json: string };
  readonly resolve: ResolvedNote;
  readonly resolve_note: ResolvedNote;
}

/** Head of a discussion, with facts of its noteable, which is locked. */
export interface DiscussionHead extends RowOf<Note, 'authorId' | 'system' | 'threadId'> {
  readonly noteable_id: number;
  readonly noteable_author_id: number;
  readonly locked: boolean;
  readonly id: number | null;
}

/** Page of discussions, with the number of discussions that the reader may see. */
interface DiscussionPageRow {
  readonly counted: number;
  readonly json: string | null;
}

/**
 * Statements on discussions of one kind of noteable. A page selects heads of discussions along the index of the notes of a
 * noteable. The notes of its threads are selected afterwards. Source: reference work-tracking 3.1, 3.2.
 */
export class DiscussionStatements {
  private readonly kept = new CachedStatements();
  private readonly visible: string;
  private readonly note: ShapeSql;
  private readonly discussion: ShapeSql;
  private readonly name: string;

  constructor(
    private readonly kind: NoteableKind,
    externalUrl: string,
    by = keyColumn(kind),
    referenced: readonly NoteableKind[] = [],
  ) {
    const sql = noteSqlOf(kind, externalUrl, referenced);
    this.name = noteableStatementName(kind, by, referenced.length > 0 ? 'discussions_referring' : 'discussions');
    this.visible = isNamedNoteableVisibleSql(kind, by);
    this.note = noteShapeOf(kind).toSql(sql);
    this.discussion = discussionShapeOf(kind).toSql({ ...sql, readsInternal: READS_INTERNAL });
  }

  /**
   * Selects a page. Returns a row if the noteable is visible: the number of discussions for the reader, and the page as
   * JSON text.
   */
  pageStatement(page: PageRequest, values: ReaderParams): Statement<DiscussionPageRow> {
    const name = isUsualPage(page) ? `${this.name}_page_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, () => {
      const list = new ListQuery<never>({
        name: 'discussions',
        from: 'notes h',
        carries: 'h.*',
        bytes: discussionBytesSql(this.kind, { readsInternal: READS_INTERNAL }),
        values,
      })
        .where(
          `h.noteable_id = i.id and h.noteable_type = '${this.kind.type}' and not h.is_reply
          and (not h.internal or ${READS_INTERNAL})`,
        )
        .orderBy([['h.created_at', 'asc']]);
      const rows = list.arraySql(page, (...rows) => jsonArraySql(this.discussion, ...rows));
      return { text: this.discussionsPageSql(rows), values: list.values };
    });
  }

  /** Returns one of the other statements. */
  statement<N extends keyof DiscussionStatementParams>(
    name: N,
    values: DiscussionStatementParams[N],
  ): Statement<DiscussionStatementRows[N]> {
    return this.kept.findOrCompose(`${this.name}_${name}`, values, () => ({ text: this.composeSql(name), values }));
  }

  private composeSql(name: keyof DiscussionStatementParams): string {
    switch (name) {
      case 'one':
        return this.selectHeadSql(this.discussion.sql);
      case 'notes':
        return this.selectHeadSql(
          jsonArraySql(this.note, notesOfDiscussionSql({ readsInternal: READS_INTERNAL }), 'n.created_at, n.id'),
        );
      case 'note':
        return this.selectNoteSql();
      case 'head':
        return this.lockHeadSql();
      case 'answer':
        return this.addReplySql();
      case 'resolve':
        return resolveOrReopenNotesSql(
          `n.noteable_id = :noteable::bigint and n.noteable_type = '${this.kind.type}' and n.thread_id = :discussion::bigint`,
        );
      case 'resolve_note':
        return resolveOrReopenNotesSql(`n.id = :note::bigint and n.noteable_id = :noteable::bigint`);
    }
  }

  /** The number of discussions is the number of visible notes minus the replies in threads. */
  private discussionsPageSql(rows: string): string {
    const { table, type } = this.kind;
    return `select i.public_notes_count + i.system_notes_count
        + case when ${READS_INTERNAL} then i.internal_notes_count else 0 end
        - (select count(*)::integer from notes r where r.noteable_id = i.id and r.noteable_type = '${type}'
          and r.thread_id is not null and r.is_reply and (not r.internal or ${READS_INTERNAL})) as counted,
      ${rows} as json from ${table} i where ${this.visible}`;
  }

  /**
   * Selects JSON over the head of a discussion. Returns a row if the noteable is visible; `json` is null if the reader
   * sees no such discussion.
   */
  private selectHeadSql(json: string): string {
    return `select (select ${json} from notes h where ${discussionHeadJoinSql(this.kind, ':discussion::bigint')}
        and (not h.internal or ${READS_INTERNAL})) as json
      from ${this.kind.table} i where ${this.visible}`;
  }

  /** Selects one note of a discussion. `json` is null when the discussion has no such note. */
  private selectNoteSql(): string {
    return `select h.id as head, (select ${this.note.sql} from notes n left join directory_users a on a.id = n.author_id
        where n.id = :note::bigint and n.noteable_id = h.noteable_id and n.noteable_type = h.noteable_type
          and coalesce(n.thread_id, n.id) = :discussion::bigint) as json
      from ${this.kind.table} i left join notes h on ${discussionHeadJoinSql(this.kind, ':discussion::bigint')}
        and (not h.internal or ${READS_INTERNAL})
      where ${this.visible}`;
  }

  /**
   * Selects the head of a discussion for a change. Locks the noteable, so that changes of its notes run one after
   * another.
   */
  private lockHeadSql(): string {
    return `select i.id as noteable_id, i.author_id as noteable_author_id, i.discussion_locked is true as locked,
        h.id, h.author_id, h.system, h.thread_id
      from ${this.kind.table} i left join notes h on ${discussionHeadJoinSql(this.kind, ':discussion::bigint')}
        and (not h.internal or ${READS_INTERNAL})
      where ${this.visible}
      for no key update of i`;
  }

  /**
   * Adds a new note to the discussion; the previous statement wrote it and locked the noteable. An individual note becomes the
   * first of a thread; a reply in a resolved thread is resolved too. Returns no row if the discussion was deleted.
   */
  private addReplySql(): string {
    return `with head as (
      select h.id, h.resolved_at, h.resolved_by_id from ${this.kind.table} i
      join notes h on ${discussionHeadJoinSql(this.kind, ':discussion::bigint')} where ${this.visible}
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

/** Resolves or reopens notes. Does not change notes that are already in that state. */
function resolveOrReopenNotesSql(condition: string): string {
  return `update notes n set resolved_at = case when :is_resolved::boolean then now() end,
      resolved_by_id = case when :is_resolved::boolean then :viewer::bigint end, updated_at = greatest(n.updated_at, now())
    where ${condition} and n.thread_id is not null and not n.system and (n.resolved_at is not null) <> :is_resolved::boolean
    returning n.id, n.internal`;
}
