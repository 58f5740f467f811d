import type { PageRequest } from '@rookery/kernel';
import { requireRowsInTimeSql, instantSql, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { Statement } from '@rookery/persistence';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { parentIdColumnSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { iidSql, keyColumn } from '../../base/noteables/references.shape';
import { addToNoteLimitSql, wouldExceedNoteLimitSql } from './note-limit';
import {
  deletedThreadSystemNotesCountSql,
  deleteEmptyDiffThreadsSql,
  discussionHeadJoinSql,
  promoteNextDiscussionHeadSql,
} from './discussions/threads-sql';
import { IS_ADMIN, READER, READS_CODE, READS_INTERNAL } from './note-statement';
import type { NewNoteKind, NotePageRow, NoteParams, NoteRows, NoteStatement, ReaderParams } from './note-statement';
import {
  noteableIdSql,
  noteBytesSql,
  noteShapeOf,
  isResolvableNoteSql,
  canReadReferencedNoteableSql,
} from './note.shape';
import type { NoteSql } from './note.shape';

export interface NoteOrder {
  readonly orderBy: 'created_at' | 'updated_at';
  readonly sort: 'asc' | 'desc';
  readonly activity: 'all_notes' | 'only_comments' | 'only_activity';
}

/**
 * Truncated to milliseconds like the times of system notes, so that system notes of the same transaction sort after it.
 */
const WRITTEN_AT = `coalesce(:created_at::timestamptz, date_trunc('milliseconds', now()))`;

/**
 * Returns the SQL expressions for the JSON of notes in these statements. The noteable is the row `i`. `referenced` are
 * the kinds whose visibility is checked. References to other kinds are hidden.
 */
export function noteSqlOf(kind: NoteableKind, externalUrl: string, referenced: readonly NoteableKind[]): NoteSql {
  const reader = { viewer: READER.viewer, isAdmin: IS_ADMIN };
  return {
    externalUrl,
    ...reader,
    seesReferenced: canReadReferencedNoteableSql(referenced, reader),
    readsCode: READS_CODE,
    noteableType: { is: kind.type },
    noteableId: noteableIdSql(kind),
    // Notes of epics have no iid of the epic, only its id (reference work-tracking 2.2).
    noteableIid: kind.parent === 'project' ? iidSql(kind) : 'null::bigint',
    resolvable: isResolvableNoteSql(kind),
    hasDiffThreads: kind.abilities.includes('diff-threads'),
  };
}

/** Boolean SQL: the row `i` is the noteable given in the path, and the reader may see it. */
export function isNamedNoteableVisibleSql(kind: NoteableKind, by: 'id' | 'iid'): string {
  return `${parentIdColumnSql(kind)} = :parent::bigint and i.${by} = :named::bigint and ${kind.visibleSql(READER)}`;
}

/** Returns the prefix of the names of statements on a kind. */
export function noteableStatementName(kind: NoteableKind, by: 'id' | 'iid', of: string): string {
  return by === keyColumn(kind) ? `${kind.table}_${of}` : `${kind.table}_by_${by}_${of}`;
}

/**
 * Hand-written statements on notes of one kind of noteable, for hot requests: the index limits the page before authors are
 * joined, limits are literals, and PostgreSQL writes instants and JSON.
 * Source: docs/performance.md 2, 5.1-5.3; ADR 0071, 0073.
 */
export class NoteStatements {
  private readonly kept = new CachedStatements();
  private readonly visible: string;
  private readonly json: ShapeSql;
  private readonly name: string;

  /** `by` is the column that paths identify a noteable by; `referenced` as in `noteSqlOf`. */
  constructor(
    private readonly kind: NoteableKind,
    externalUrl: string,
    by = keyColumn(kind),
    referenced: readonly NoteableKind[] = [],
  ) {
    this.name = noteableStatementName(kind, by, referenced.length > 0 ? 'notes_referring' : 'notes');
    this.visible = isNamedNoteableVisibleSql(kind, by);
    this.json = noteShapeOf(kind).toSql(noteSqlOf(kind, externalUrl, referenced));
  }

  /** Selects a page of notes. Returns a row if the noteable is visible: the counters, and the page as JSON text. */
  pageStatement(order: NoteOrder, page: PageRequest, values: ReaderParams): Statement<NotePageRow> {
    // Short, because PostgreSQL truncates names after 63 bytes.
    const activity = order.activity.replace('only_', '');
    const name = [this.name, order.orderBy, order.sort, activity, page.perPage].join('_');
    return this.kept.findOrCompose(isUsualPage(page) ? name : null, values, () => {
      const list = this.createListQuery(order, values);
      return { text: this.notesPageSql(list, page), values: list.values };
    });
  }

  /** Returns one of the other statements. */
  statement<N extends NoteStatement>(name: N, values: NoteParams[N]): Statement<NoteRows[N]> {
    return this.kept.findOrCompose(`${this.name}_${name}`, values, () => ({ text: this.composeSql(name), values }));
  }

  private composeSql(name: NoteStatement): string {
    switch (name) {
      case 'one':
        return this.selectNoteSql();
      case 'subject':
        return this.lockNoteToChangeSql();
      case 'create':
      case 'open':
      case 'reply':
        return this.insertAndCountNoteSql(VARIANTS[name]);
      case 'create_counted':
        return this.insertAndCountNoteSql(VARIANTS.create, COUNTED);
      case 'open_counted':
        return this.insertAndCountNoteSql(VARIANTS.open, COUNTED);
      case 'reply_counted':
        return this.insertAndCountNoteSql(VARIANTS.reply, COUNTED);
      case 'create_first':
        return this.insertNoteFirstSql(VARIANTS.create);
      case 'open_first':
        return this.insertNoteFirstSql(VARIANTS.open);
      case 'count':
        return this.countNoteSql();
      case 'count_limited':
        return this.countNoteSql(COUNTED_LAST);
      case 'refusal':
        return this.refusalFactsSql();
      case 'edit':
        return this.editNoteSql();
      case 'remove':
        return this.removeNoteSql();
    }
  }

  private createListQuery(order: NoteOrder, values: ReaderParams): ListQuery<never> {
    const list = new ListQuery<never>({
      name: 'notes',
      from: 'notes n',
      carries: 'n.*',
      joins: 'left join directory_users a on a.id = n.author_id',
      bytes: noteBytesSql(this.kind),
      values,
    });
    list.where(
      `n.noteable_id = i.id and n.noteable_type = '${this.kind.type}' and (not n.internal or ${READS_INTERNAL})`,
    );
    if (order.activity !== 'all_notes') list.where(order.activity === 'only_activity' ? 'n.system' : 'not n.system');
    return list.orderBy([[`n.${order.orderBy}`, order.sort]]);
  }

  private notesPageSql(list: ListQuery<never>, page: PageRequest): string {
    const rows = list.arraySql(page, (...rows) => jsonArraySql(this.json, ...rows));
    return `select i.public_notes_count + case when ${READS_INTERNAL} then i.internal_notes_count else 0 end as comments,
      i.system_notes_count as activity, ${rows} as json from ${this.kind.table} i where ${this.visible}`;
  }

  /**
   * Selects one note. Returns a row if the noteable is visible; `id` is null if it has no such note, `hidden` if the
   * reader may not see it.
   */
  private selectNoteSql(): string {
    return `select n.id, n.internal and not ${READS_INTERNAL} as hidden,
      case when n.id is not null and (not n.internal or ${READS_INTERNAL}) then ${this.json.sql} end as json
      from ${this.kind.table} i
      left join notes n on n.id = :note::bigint and n.noteable_id = i.id and n.noteable_type = '${this.kind.type}'
      left join directory_users a on a.id = n.author_id
      where ${this.visible}`;
  }

  /**
   * Like `one`, for a change: columns instead of JSON. Locks the noteable, so that changes of its notes run one after
   * another.
   */
  private lockNoteToChangeSql(): string {
    return `select i.id as noteable_id, ${iidSql(this.kind)} as noteable_iid, i.author_id as noteable_author_id,
      i.discussion_locked is true as locked, n.id, n.author_id, n.body, n.system, n.internal, n.updated_at,
      coalesce(n.thread_id, n.id) as discussion_id,
      n.internal and not ${READS_INTERNAL} as hidden
      from ${this.kind.table} i
      left join notes n on n.id = :note::bigint and n.noteable_id = i.id and n.noteable_type = '${this.kind.type}'
      where ${this.visible}
      for no key update of i`;
  }

  /**
   * Updates the noteable and its counters, inserts the note and returns its JSON in one round trip. Returns no row if the note
   * is refused, and no `id` if only the limit of notes refuses it. The limit is counted last, so its row is locked last.
   */
  private insertAndCountNoteSql(variant: NoteVariant, counted = ''): string {
    return `with ${variant.before?.(this.kind, this.visible) ?? ''}touched as (
      ${this.updateNoteCountersSql(variant.internal, variant.before ? 'and exists (select 1 from answered)' : '')}
      returning i.id${this.kind.shownId === 'iid' ? ', i.iid' : ''}
    ), ${counted}n as (
      ${this.insertNoteSql(variant, counted ? ' cross join counted' : '')}
    )
    select ${this.writtenNoteColumnsSql()}${counted ? COUNTED_COLUMNS : ''}
    from ${counted ? 'touched i left join n on true' : 'n cross join touched i'} left join directory_users a on a.id = n.author_id`;
  }

  /** Inserts the note without a lock on the noteable; `count` follows with the commit. */
  private insertNoteFirstSql(variant: NoteVariant): string {
    return `with touched as (
      select i.id${this.kind.shownId === 'iid' ? ', i.iid' : ''} from ${this.kind.table} i
      where ${this.noteableTakesNotesSql()} and not ${wouldExceedNoteLimitSql(':spender::bigint', ':most_notes')}
    ), n as (
      ${this.insertNoteSql(variant)}
    )
    select ${this.writtenNoteColumnsSql()} from n cross join touched i left join directory_users a on a.id = n.author_id`;
  }

  /** Counts the note that `insertNoteFirstSql` wrote, if the noteable still takes notes. */
  private countNoteSql(counted = ''): string {
    return `with touched as (
      ${this.updateNoteCountersSql(':internal::boolean')}
      returning i.id
    )${counted && `, ${counted}`}
    select ${requireRowsInTimeSql(counted ? 'touched cross join counted' : 'touched', ':patience_ms')} as is_as_hoped${counted ? COUNTED_COLUMNS : ''}`;
  }

  private noteableTakesNotesSql(): string {
    return `${this.visible} and (i.discussion_locked is not true or ${READER.isMember})
        and i.public_notes_count + i.internal_notes_count < :most_comments::integer`;
  }

  private updateNoteCountersSql(internal: string, condition = ''): string {
    return `${this.kind.writes.update} updated_at = greatest(i.updated_at, now()),
        public_notes_count = i.public_notes_count + case when ${internal} then 0 else 1 end,
        internal_notes_count = i.internal_notes_count + case when ${internal} then 1 else 0 end
      where ${this.noteableTakesNotesSql()}
        ${condition}`;
  }

  private insertNoteSql(variant: NoteVariant, counted = ''): string {
    const projectId = this.kind.parent === 'project' ? ':parent::bigint' : 'null::bigint';
    return `insert into notes (${variant.columns}noteable_type, noteable_id, project_id, author_id, body, internal, created_at, updated_at)
      select ${variant.values}'${this.kind.type}', i.id, ${projectId}, ${READER.viewer}, :body::text, ${variant.internal}, ${WRITTEN_AT}, ${WRITTEN_AT}
      from touched i${counted}${variant.from}
      returning *`;
  }

  private writtenNoteColumnsSql(): string {
    return `n.id, n.internal, n.noteable_id, ${iidSql(this.kind)} as noteable_iid,
      ${instantSql('n.created_at')} as created_at, ${this.json.sql} as json`;
  }

  /** Selects the facts that explain why `create` wrote nothing. Returns no row if the noteable is not visible. */
  private refusalFactsSql(): string {
    return `select i.discussion_locked is true and not ${READER.isMember} as locked,
      i.public_notes_count + i.internal_notes_count as comments
      from ${this.kind.table} i
      where ${this.visible}`;
  }

  private editNoteSql(): string {
    return `with n as (
      update notes set body = :body::text, edited_by_id = ${READER.viewer}, updated_at = greatest(updated_at, now()) where id = :note::bigint returning *
    )
    select ${instantSql('n.updated_at')} as changed_at, ${this.json.sql} as json
    from n join ${this.kind.table} i on i.id = n.noteable_id left join directory_users a on a.id = n.author_id
    where ${this.visible}`;
  }

  /** Deletes a note and updates the counters. The oldest remaining comment of a thread replaces a deleted head. */
  private removeNoteSql(): string {
    return `with gone as (
      delete from notes where id = :note::bigint
      returning id, noteable_type, noteable_id, internal, thread_id, is_reply
    ), ${promoteNextDiscussionHeadSql('gone')}${deleteEmptyDiffThreadsSql(this.kind, 'gone')}
    ${this.kind.writes.update}
      public_notes_count = i.public_notes_count - case when gone.internal then 0 else 1 end,
      internal_notes_count = i.internal_notes_count - case when gone.internal then 1 else 0 end,
      system_notes_count = i.system_notes_count - ${deletedThreadSystemNotesCountSql(this.kind)}
    from gone where i.id = gone.noteable_id
    returning i.id`;
  }
}

/** Columns of a `CountedRow`: number of notes in the author's current minute. */
const COUNTED_COLUMNS = `, (select c.written from counted c) as written, (select c.seconds from counted c) as seconds`;
const COUNTED_LAST = `counted as (
      ${addToNoteLimitSql(':spender', ':most_notes', { from: 'from touched' })}
    )`;
const COUNTED = `${COUNTED_LAST}, `;

/** Parts of the insert statement that differ between the kinds of new notes. */
interface NoteVariant {
  readonly internal: string;
  readonly columns: string;
  readonly values: string;
  readonly from: string;
  /** Common table expression that runs before the noteable is updated. */
  readonly before?: (kind: NoteableKind, visible: string) => string;
}

const VARIANTS: Readonly<Record<NewNoteKind, NoteVariant>> = {
  create: { internal: ':internal::boolean', columns: '', values: '', from: '' },
  // The id is taken first, because `thread_id` holds the note's own id.
  open: {
    internal: ':internal::boolean',
    columns: 'id, thread_id, ',
    values: 'own.id, own.id, ',
    from: ` cross join (select nextval(pg_get_serial_sequence('notes', 'id')) as id) own`,
  },
  // A reply is internal if its thread is; `internal` never changes.
  reply: {
    internal: '(select h.internal from answered h)',
    columns: 'thread_id, is_reply, ',
    values: ':thread::bigint, true, ',
    from: '',
    before: (kind, visible) => `answered as (
      select h.internal from ${kind.table} i join notes h on ${discussionHeadJoinSql(kind, ':thread::bigint')}
      where ${visible} and not h.system and (not h.internal or ${READS_INTERNAL})
        ${kind.abilities.includes('threads') ? '' : 'and h.thread_id is not null'}
    ), `,
  },
};
