import type { PageRequest } from '@rookery/kernel';
import { offsetOf } from '@rookery/kernel';
import { instantSql, prepared } from '@rookery/persistence';
import type { Prepared } from '@rookery/persistence';
import { arraySql } from '../json-rows/json-shape';
import type { NoteableKind } from '../noteables/noteable-kinds';
import { noteShape } from './note.shape';

export interface NoteOrder {
  readonly orderBy: 'created_at' | 'updated_at';
  readonly sort: 'asc' | 'desc';
  readonly activity: 'all_notes' | 'only_comments' | 'only_activity';
}

/** Units: rows. The page sizes that clients ask for; others are sent unnamed, so that nobody fills the plan caches. */
const NAMED_PAGE_SIZES: readonly number[] = [20, 50, 100];

// Every statement takes the same first seven values, in the order of `readerValues`.
const READER = { viewer: '$3::bigint', isMember: '$4::boolean', readsConfidential: '$5::boolean' };
const READS_INTERNAL = '$6::boolean';
const IS_ADMIN = '$7::boolean';

/**
 * The hot statements on notes of one kind of noteable, by hand: the page is cut by the index before authors are
 * joined, limits are literals, instants and JSON are written by PostgreSQL.
 * Source: performance R1, R2, W1 and learnt 1-3; ADR 0071, 0073.
 */
export class NoteStatements {
  readonly one: Prepared;
  readonly subject: Prepared;
  readonly create: Prepared;
  readonly createCounted: Prepared;
  readonly refusal: Prepared;
  readonly edit: Prepared;
  readonly remove: Prepared;
  private readonly pages = new Map<string, Prepared>();
  private readonly visible: string;
  private readonly json: ReturnType<typeof noteShape>;

  constructor(
    private readonly kind: NoteableKind,
    private readonly externalUrl: string,
  ) {
    const named = (name: string, sql: string): Prepared => prepared(`${kind.table}_notes_${name}`, sql);
    this.visible = `i.project_id = $1::bigint and i.${kind.pathColumn} = $2::bigint and ${kind.visibleSql('i', READER)}`;
    this.json = this.shape(kind.iidColumn ? `i.${kind.iidColumn}` : 'null::bigint');
    this.one = named('one', this.oneSql());
    this.subject = named('subject', this.subjectSql());
    this.create = named('create', this.createSql(''));
    this.createCounted = named('create_counted', this.createSql(COUNTED));
    this.refusal = named('refusal', this.refusalSql());
    this.edit = named('edit', this.editSql());
    this.remove = named('remove', this.removeSql());
  }

  get presenter() {
    return this.json.presenter;
  }

  /** A row when the noteable is visible: the counters and the page as JSON text. `name` is null when it must not be kept. */
  page(order: NoteOrder, page: PageRequest): { readonly name: string | null; readonly text: string } {
    if (page.page !== 1 || !NAMED_PAGE_SIZES.includes(page.perPage))
      return { name: null, text: this.pageSql(order, page) };
    const name = [`${this.kind.table}_notes_page`, order.orderBy, order.sort, order.activity, page.perPage].join('_');
    const known = this.pages.get(name) ?? prepared(name, this.pageSql(order, page));
    this.pages.set(name, known);
    return known;
  }

  private pageSql(order: NoteOrder, page: PageRequest): string {
    const system = { all_notes: '', only_comments: ' and not system', only_activity: ' and system' }[order.activity];
    const offset = offsetOf(page);
    const cut = `select * from notes
      where noteable_id = i.id and noteable_type = '${this.kind.type}' and (not internal or ${READS_INTERNAL})${system}
      order by ${order.orderBy} ${order.sort}, id ${order.sort}
      limit ${page.perPage}${offset > 0 ? ` offset ${offset}` : ''}`;
    const rows = arraySql(
      this.json,
      `from (${cut}) n left join directory_users a on a.id = n.author_id`,
      `n.${order.orderBy} ${order.sort}, n.id ${order.sort}`,
    );
    return `select i.public_notes_count + case when ${READS_INTERNAL} then i.internal_notes_count else 0 end as comments,
      i.system_notes_count as activity, ${rows} as json from ${this.kind.table} i where ${this.visible}`;
  }

  private shape(noteableIid: string) {
    return noteShape({
      externalUrl: this.externalUrl,
      viewer: READER.viewer,
      isAdmin: IS_ADMIN,
      noteableType: this.kind.type,
      noteableIid,
    });
  }

  /** $8 note. A row when the noteable is visible; `id` is null when it has no such note, `hidden` when it is not for the reader. */
  private oneSql(): string {
    return `select n.id, n.internal and not ${READS_INTERNAL} as hidden,
      case when n.id is not null and (not n.internal or ${READS_INTERNAL}) then ${this.json.sql} end as json
      from ${this.kind.table} i
      left join notes n on n.id = $8::bigint and n.noteable_id = i.id and n.noteable_type = '${this.kind.type}'
      left join directory_users a on a.id = n.author_id
      where ${this.visible} and ${IS_ADMIN} is not null`;
  }

  /** As `one`, for a change: facts instead of JSON. The noteable is locked, so that changes of its notes take turns. */
  private subjectSql(): string {
    return `select i.id as noteable_id, ${this.kind.iidColumn ? `i.${this.kind.iidColumn}` : 'null::bigint'} as noteable_iid,
      i.discussion_locked is true as locked, n.id, n.author_id, n.body, n.system, n.internal, n.updated_at,
      n.internal and not ${READS_INTERNAL} as hidden
      from ${this.kind.table} i
      left join notes n on n.id = $8::bigint and n.noteable_id = i.id and n.noteable_type = '${this.kind.type}'
      where ${this.visible} and ${IS_ADMIN} is not null
      for no key update of i`;
  }

  /**
   * $8 body, $9 internal, $10 given time or null, $11 most comments[, $12 most in a minute]. One round trip: counts the
   * note, touches the noteable, inserts, and answers the JSON. No row when anything stands against it.
   */
  private createSql(counted: string): string {
    const { table, type, pathColumn } = this.kind;
    return `with ${counted}touched as (
      update ${table} i set updated_at = greatest(i.updated_at, now()),
        public_notes_count = i.public_notes_count + case when $9::boolean then 0 else 1 end,
        internal_notes_count = i.internal_notes_count + case when $9::boolean then 1 else 0 end
      where ${this.visible} and (i.discussion_locked is not true or ${READER.isMember})
        and i.public_notes_count + i.internal_notes_count < $11::integer
        ${counted ? 'and exists (select 1 from counted)' : ''}
      returning i.id, i.${pathColumn}
    ), n as (
      insert into notes (noteable_type, noteable_id, project_id, author_id, body, internal, created_at, updated_at)
      select '${type}', i.id, $1::bigint, ${READER.viewer}, $8::text, $9::boolean, coalesce($10::timestamptz, now()),
        coalesce($10::timestamptz, now())
      from touched i
      returning *
    )
    select n.id, n.noteable_id, ${this.kind.iidColumn ? `i.${this.kind.iidColumn}` : 'null::bigint'} as noteable_iid,
      ${instantSql('n.created_at')} as created_at, ${this.json.sql} as json
    from n cross join touched i left join directory_users a on a.id = n.author_id
    where ${READS_INTERNAL} is not null and ${IS_ADMIN} is not null`;
  }

  /** Why `create` made nothing; no row when the noteable is not visible. */
  private refusalSql(): string {
    return `select i.discussion_locked is true and not ${READER.isMember} as locked,
      i.public_notes_count + i.internal_notes_count as comments,
      (select ceil(extract(epoch from c.window_started_at + interval '1 minute' - now()))::integer
        from note_creations c where c.user_id = ${READER.viewer}) as wait_seconds
      from ${this.kind.table} i
      where ${this.visible} and ${READS_INTERNAL} is not null and ${IS_ADMIN} is not null`;
  }

  /** $8 note, $9 body. */
  private editSql(): string {
    return `with n as (
      update notes set body = $9::text, updated_at = greatest(updated_at, now()) where id = $8::bigint returning *
    )
    select ${instantSql('n.updated_at')} as changed_at, ${this.json.sql} as json
    from n join ${this.kind.table} i on i.id = n.noteable_id left join directory_users a on a.id = n.author_id
    where ${this.visible} and ${READS_INTERNAL} is not null`;
  }

  /** $1 note. Counters follow in the same statement. */
  private removeSql(): string {
    return `with gone as (delete from notes where id = $1::bigint returning noteable_id, internal)
    update ${this.kind.table} i set
      public_notes_count = i.public_notes_count - case when gone.internal then 0 else 1 end,
      internal_notes_count = i.internal_notes_count - case when gone.internal then 1 else 0 end
    from gone where i.id = gone.noteable_id
    returning i.id`;
  }
}

/** One row a person: a window of a minute that begins with the first note. No row comes back once it is full. */
const COUNTED = `counted as (
      insert into note_creations as c (user_id, window_started_at, notes_count) values ($3::bigint, now(), 1)
      on conflict (user_id) do update set
        notes_count = case when c.window_started_at > now() - interval '1 minute' then c.notes_count + 1 else 1 end,
        window_started_at =
          case when c.window_started_at > now() - interval '1 minute' then c.window_started_at else now() end
      where c.window_started_at <= now() - interval '1 minute' or c.notes_count < $12::integer
      returning 1
    ), `;
