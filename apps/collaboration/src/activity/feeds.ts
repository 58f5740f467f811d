import type { DirectoryUserRow } from '@rookery/directory';
import type { Page, PageRequest } from '@rookery/kernel';
import { COUNT_LIMIT } from '@rookery/kernel';
import { filter, instantSql, ListQuery } from '@rookery/persistence';
import type { Filters, Reads, RowOf } from '@rookery/persistence';
import { projectAccessSql } from '../noteables/access-sql';
import { readableSql, readsAllSql, subjectSql } from '../noteables/noteable-kinds';
import type { NoteableKind, NoteableKinds } from '../noteables/noteable-kinds';
import { iidSql } from '../noteables/references.shape';
import { noteShape, resolvableAmongSql } from '../notes/note.shape';
import type { ActivityEvent } from './activity-event.entity';
import { ACTIVITY_TARGET_TYPES, NOTE_TARGETS, actionNameSql } from './activity-words';
import type { ActivityAction, ActivityTarget } from './activity-words';
import { memberProjectsSql } from './member-projects-sql';

export interface ActivityFilter {
  readonly action?: ActivityAction | undefined;
  readonly target?: ActivityTarget | undefined;
  /** Calendar days (UTC), both exclusive. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly sort: 'asc' | 'desc';
}

/** Whose entries, or where. */
export type Feed = 'author' | 'project' | 'memberships';

// The first values of every statement: the caller, then what the feed is of. They are hidden from the planner: with rows
// that it guesses by the person or the project a plan of the one looks cheaper than that of all, and planning a feed anew
// takes several times as long as reading it.
const VIEWER = '(select $1::bigint)';
const IS_ADMIN = '(select $2::boolean)';
const person = { user: VIEWER, isAdmin: IS_ADMIN, isExternal: '(select $3::boolean)' };
/** The author, or the project. */
const OF = '(select $4::bigint)';
/** What the request's own decision says of the one project: $4 id, $5 name, $6-$11 what the caller reads. */
const ONE_PROJECT = `(select ${OF} as project_id, $5::text as name, $6::boolean as is_member,
      $7::boolean as reads_confidential, $8::boolean as reads_internal, $9::boolean as reads_issues,
      $10::boolean as reads_merge_requests, $11::boolean as reads_snippets)`;

const NOTEABLE = { type: 'e.noteable_type', id: 'e.noteable_id' };
const NOTE = `left join notes n on n.id = e.target_id and e.target_type in (${NOTE_TARGETS})`;
/** The bytes of the note of an entry. */
const BYTES = `coalesce((select octet_length(n.body) from notes n where n.id = e.target_id
      and e.target_type in (${NOTE_TARGETS})), 0)`;
/** Source: reference work-tracking 7.7. */
const VISIBLE = `(e.noteable_id is null or (about.is_readable
        and (e.target_type not in (${NOTE_TARGETS}) or (n.id is not null and (not n.internal or a.reads_internal)))))`;

/** An entry as it is shown. */
export interface FeedEntry extends RowOf<
  ActivityEvent,
  'id' | 'projectId' | 'authorId' | 'targetType' | 'targetId' | 'importedFrom'
> {
  readonly action_name: string;
  readonly target_iid: number | null;
  readonly target_title: string | null;
  /** ISO 8601. */
  readonly created_at: string;
  /** JSON. */
  readonly note: string | null;
  readonly author: DirectoryUserRow | undefined;
}

/** As a statement reads it. */
export type FeedRow = Omit<FeedEntry, 'author'>;

const TARGET_TITLE = `case when e.noteable_id is not null then about.title
    when e.target_type = 'Project' then e.project_name end`;
const TARGET_IID = `case when e.target_type = e.noteable_type then about.iid else e.target_id end`;

/**
 * The statements of feeds. Whoever reads is judged per project and entry inside the statement, so pages are full; the
 * page is cut along the index of the feed. Source: reference work-tracking 7; docs/performance.md 2; ADR 0080.
 */
export class ActivityFeeds {
  private readonly kinds: readonly NoteableKind[];
  private readonly judged: string;
  private readonly columns: string;
  private readonly joined: string;

  constructor(kinds: NoteableKinds, externalUrl: string) {
    this.kinds = kinds.ofProjects;
    const readable = (kind: NoteableKind): string => `${readableSql(kind, 'a', VIEWER)} as is_readable`;
    this.judged = `left join lateral ${subjectSql(this.kinds, NOTEABLE, readable)} about on true
      ${NOTE}`;
    const shown = subjectSql(this.kinds, NOTEABLE, (kind) => `i.title, ${iidSql(kind)} as iid`);
    this.joined = `left join lateral ${shown} about on true ${NOTE} left join directory_users a on a.id = n.author_id`;
    const note = noteShape.over({
      externalUrl,
      viewer: VIEWER,
      isAdmin: IS_ADMIN,
      noteableType: 'e.noteable_type',
      noteableIid: 'about.iid',
      resolvable: resolvableAmongSql(this.kinds, 'e.noteable_type'),
      // Feeds tell of comments only, which refer to nothing.
      seesReferenced: 'false',
    });
    this.columns = `e.id, e.project_id, ${actionNameSql('e')} as action_name, e.target_id, ${TARGET_IID} as target_iid,
        e.target_type, e.author_id, ${TARGET_TITLE} as target_title, ${instantSql('e.created_at')} as created_at,
        e.imported_from, case when n.id is not null and not e.is_heavy then ${note.sql} end as note`;
  }

  /** Shape: `values` are those of the caller and of what the feed is of. */
  page(
    db: Reads,
    feed: Feed,
    wanted: ActivityFilter,
    page: PageRequest,
    values: readonly unknown[],
  ): Promise<Page<FeedRow>> {
    const { columns, joined: joins } = this;
    const parts = { name: 'feeds', from: 'activity_events e', carries: 'e.*', columns, joins, bytes: BYTES, values };
    const list = new ListQuery<FeedRow>(parts).orderBy([['e.created_at', wanted.sort]]);
    const narrowed = ['true', ...list.asked(FILTERS, wanted)].join(' and ');
    const by = `e.created_at ${wanted.sort}, e.id ${wanted.sort}`;
    return list
      .among({ from: 'activity_events e', first: (count) => `${this.entries(feed, narrowed, by, count)} e` })
      .pageAtOnce(db, page, {
        counted: this.counted(feed, narrowed),
        ...(feed === 'memberships' ? { with: memberProjectsSql(VIEWER) } : {}),
      });
  }

  /** Visible entries, at least the first `count` of them in order. */
  private entries(feed: Feed, narrowed: string, by: string, count: number): string {
    if (feed !== 'memberships') {
      return `(select e.*, a.name as project_name from activity_events e
      join lateral ${accessOf(feed, 'e.project_id')} a on true ${this.judged}
      where ${ofFeed(feed)} and ${narrowed} and ${VISIBLE} order by ${by} limit ${count})`;
    }
    // A few of each project, so that a member of many reads as many pages' beginnings and not their whole history.
    return `(select e.* from mine join lateral ${accessOf(feed, 'mine.project_id')} a on a.is_member
    cross join lateral (select e.*, a.name as project_name from activity_events e ${this.judged}
      where e.project_id = mine.project_id and ${narrowed} and ${VISIBLE} order by ${by} limit ${count}) e)`;
  }

  /** As with to-dos: an index alone is counted where the caller reads everything, else entry by entry. */
  private counted(feed: Feed, narrowed: string): string {
    const most = `limit ${COUNT_LIMIT + 1}`;
    const own = `select e.project_id from activity_events e where ${narrowed}`;
    // Fenced by its own limit, so that no plan reads the whole table to find a few projects.
    const rows =
      feed === 'memberships'
        ? `select e.project_id from mine cross join lateral (${own} and e.project_id = mine.project_id ${most}) e`
        : `${own} and ${ofFeed(feed)}`;
    return `(select coalesce(sum(case when ${readsAllSql(this.kinds, 'a')} then found.count else (
        select count(*) from (select 1 from activity_events e ${this.judged}
          where ${ofFeed(feed)} and ${narrowed} and e.project_id = found.project_id and ${VISIBLE} ${most}) seen) end), 0)::integer
      from (select e.project_id, count(*) as count from (${rows} ${most}) e group by e.project_id) found
      join lateral ${accessOf(feed, 'found.project_id')} a on ${feed === 'memberships' ? 'a.is_member' : 'true'})`;
  }
}

function accessOf(feed: Feed, project: string): string {
  return feed === 'project' ? ONE_PROJECT : projectAccessSql(project, person);
}

function ofFeed(feed: Feed): string {
  switch (feed) {
    case 'author':
      return `e.author_id = ${OF}`;
    case 'project':
      return `e.project_id = ${OF}`;
    case 'memberships':
      return 'true';
  }
}

const FILTERS: Filters<ActivityFilter> = {
  action: filter.equals('e.action'),
  target: (target, bind) => `e.target_type = ${bind(ACTIVITY_TARGET_TYPES[target])}`,
  before: (day, bind) => `e.created_at < ${bind(day)}::date::timestamp at time zone 'UTC'`,
  after: (day, bind) => `e.created_at >= (${bind(day)}::date + 1)::timestamp at time zone 'UTC'`,
};
