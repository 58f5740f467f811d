import type { JsonPageRow, PageRequest } from '@rookery/kernel';
import { filter, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { SqlDraft, Filters, JsonRows, Statement } from '@rookery/persistence';
import { projectAccessRowSql, readsCodeSql } from '../../base/noteables/access-sql';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { canReadNoteableRowSql } from '../../base/noteables/noteable-kinds';
import type { Ability, NoteableKind, NoteableKinds } from '../../base/noteables/noteable-kinds';
import { iidSql } from '../../base/noteables/references.shape';
import { noteableIdOfAnyKindSql, noteBytesSql, isResolvableNoteOfAnyKindSql } from '../../talk/notes/note.shape';
import { activityEventShape } from './activity-event.shape';
import { ACTIVITY_TARGET_TYPES, NOTE_TARGETS } from './activity-types';
import type { ActivityAction, ActivityTarget } from './activity-types';
import { memberProjectsSql } from './member-projects-sql';

export interface ActivityFilter {
  readonly action?: ActivityAction | undefined;
  readonly target?: ActivityTarget | undefined;
  /** Calendar days (UTC), both exclusive. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly sort: 'asc' | 'desc';
}

/**
 * Name of a feed: by author, by project, or over all projects of the caller. The last one is read in two ways: first by the
 * newest entries of all projects (`memberships`), and if some of them are hidden, by the newest visible entries of each
 * project (`each_of_memberships`).
 */
export type Feed = keyof FeedParams;

/** A page of a feed. If any entry of a page of `memberships` is hidden, the page is empty and `is_whole` is false. */
export interface FeedRow extends JsonPageRow {
  readonly is_whole?: boolean;
}

/**
 * Limit of the count of a feed: a page of a longer feed has no total. Feeds grow for years, and counting further took longer
 * than reading the page. Source: reference work-tracking 7.1; ADR 0080.
 */
export const FEED_COUNT_LIMIT = 50;

/** Values of every feed. */
export interface FeedViewerParams {
  readonly viewer: number | null;
  readonly is_admin: boolean;
  readonly is_external: boolean;
}

/** Access of the viewer to one project, as decided for the request. */
interface ProjectAccessParams {
  readonly project: number;
  readonly project_name: string;
  readonly is_member: boolean;
  readonly reads_confidential: boolean;
  readonly reads_internal: boolean;
  readonly reads_issues: boolean;
  readonly reads_merge_requests: boolean;
  readonly reads_snippets: boolean;
}

/** Values of each feed. */
export interface FeedParams {
  readonly author: FeedViewerParams & { readonly author: number };
  readonly project: FeedViewerParams & ProjectAccessParams;
  readonly memberships: FeedViewerParams;
  readonly each_of_memberships: FeedViewerParams;
}

// Parameters are hidden from the planner in subqueries. Otherwise its row estimates for a user or project make a
// custom plan look cheaper than the generic plan, and planning a feed takes several times as long as reading it.
const VIEWER = '(select :viewer::bigint)';
const IS_ADMIN = '(select :is_admin::boolean)';
const person = { user: VIEWER, isAdmin: IS_ADMIN, isExternal: '(select :is_external::boolean)' };
/** One row: the access of the viewer to the one project. */
const ONE_PROJECT = `(select (select :project::bigint) as project_id, (select :project_name::text) as name, (select :is_member::boolean) as is_member,
      (select :reads_confidential::boolean) as reads_confidential, (select :reads_internal::boolean) as reads_internal, (select :reads_issues::boolean) as reads_issues,
      (select :reads_merge_requests::boolean) as reads_merge_requests, (select :reads_snippets::boolean) as reads_snippets)`;

const NOTE = `left join notes n on n.id = e.target_id and e.target_type in (${NOTE_TARGETS})`;
/** Boolean SQL: whether the viewer reads milestones of the project, also the deleted ones, which have no row. */
const READS_MILESTONES = '(a.reads_issues or a.reads_merge_requests)';
/**
 * Boolean SQL: whether the milestone `m` belongs to the project or to a group above it. A promoted milestone keeps its
 * entries, which are hidden once the project has left the group.
 */
const MILESTONE_APPLIES = `(m.project_id = e.project_id or exists (select 1 from directory_projects p
            join directory_namespaces home on home.id = p.namespace_id
            where p.id = e.project_id and m.group_id = any(home.traversal_ids)))`;
/** Source: reference work-tracking 7.7. */
const VISIBLE = `(case when e.action = 'pushed' then ${readsCodeSql('e.project_id', 'a')}
        when e.action = 'destroyed' then ${READS_MILESTONES} when e.noteable_id is null then true else (about.is_readable
        and (e.target_type not in (${NOTE_TARGETS}) or (n.id is not null and (not n.internal or a.reads_internal)))) end)`;

/** Columns of an entry's JSON that the visibility check has already read: size of its note, title and iids. */
const SHOWN = `coalesce(${noteBytesSql({ abilities: ['suggestions'] })}, 0) as bytes,
        case when e.noteable_id is not null then about.title when e.target_type = 'Project' then a.name end as target_title,
        about.iid as noteable_iid, case when e.target_type = e.noteable_type then about.iid else e.target_id end as target_iid`;

/** Boolean SQL: whether the first entries of all projects of the caller are all visible. */
const IS_WHOLE = `((select bool_and(is_visible) from nearest) is not false)`;
/** Columns of the access to a project that decide on the visibility of entries or are shown. */
const ACCESS = [
  'name',
  'is_member',
  'reads_confidential',
  'reads_internal',
  'reads_issues',
  'reads_merge_requests',
  'reads_snippets',
];

/**
 * Statements of feeds. Visibility is decided for each project and entry inside the statement, so pages are full. Pages
 * follow the index of the feed. Source: reference work-tracking 7; docs/performance.md 2; ADR 0080.
 */
export class ActivityFeeds {
  private readonly kinds: readonly NoteableKind[];
  private readonly targetJoins: string;
  private readonly kept = new CachedStatements();
  private readonly shape: ShapeSql;
  private readonly joined: string;

  constructor(kinds: NoteableKinds, externalUrl: string) {
    this.kinds = kinds.ofProjects;
    this.targetJoins = `${entryTargetJoinsSql(this.kinds)} ${NOTE}`;
    this.joined = `${NOTE} left join directory_users a on a.id = n.author_id
      left join directory_users author on author.id = e.author_id`;
    this.shape = activityEventShape.toSql({
      externalUrl,
      viewer: VIEWER,
      isAdmin: IS_ADMIN,
      noteableType: 'e.noteable_type',
      noteableId: noteableIdOfAnyKindSql(this.kinds, 'e.noteable_type'),
      noteableIid: 'e.noteable_iid',
      hasDiffThreads: true,
      canHavePosition: isOfKindWithAbilitySql(this.kinds, 'diff-threads'),
      canHaveSuggestions: isOfKindWithAbilitySql(this.kinds, 'suggestions'),
      resolvable: isResolvableNoteOfAnyKindSql(this.kinds, 'e.noteable_type'),
      // Feeds show comments only, which have no reference.
      seesReferenced: 'false',
      readsCode: 'false',
      targetIid: 'e.target_iid',
      targetTitle: 'e.target_title',
    });
  }

  /** Returns the statement of a page. Statements without filters are kept prepared. */
  pageStatement<F extends Feed>(
    feed: F,
    wanted: ActivityFilter,
    page: PageRequest,
    values: FeedParams[F],
  ): Statement<FeedRow> {
    const { sort, ...narrowing } = wanted;
    const isPlain = isUsualPage(page) && Object.values(narrowing).every((value) => value === undefined);
    const name = isPlain ? `feeds_${feed}_${sort}_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, () => this.feedPageSql(feed, wanted, page, values));
  }

  private feedPageSql(feed: Feed, wanted: ActivityFilter, page: PageRequest, values: FeedViewerParams): SqlDraft {
    const { joined: joins } = this;
    const from = 'activity_events e';
    const parts = { name: 'feeds', from, carries: 'e.*', joins, bytes: 'e.bytes', values };
    const list = new ListQuery<never>(parts).orderBy([['e.created_at', wanted.sort]]);
    const narrowed = ['true', ...list.listConditions(FILTERS, wanted)].join(' and ');
    const by = `order by e.created_at ${wanted.sort}, e.id ${wanted.sort}`;
    const rows: JsonRows = (...of) => jsonArraySql(this.shape, ...of);
    // `found` is read once: for the page, for the flag of a next page and for the count.
    const count = Math.max(FEED_COUNT_LIMIT + 1, page.page * page.perPage + 1);
    const isOfAll = feed === 'memberships' || feed === 'each_of_memberships';
    return list.fromSource({ from, first: () => 'found e' }).jsonSql(page, {
      rows,
      counted: '(select count(*)::integer from found)',
      countedTo: FEED_COUNT_LIMIT,
      with: isOfAll
        ? this.membershipEntriesSql(feed, narrowed, by, count)
        : this.singleSourceEntriesSql(feed, narrowed, by, count),
      ...(feed === 'memberships' ? { extraColumns: `${IS_WHOLE} as is_whole` } : {}),
    });
  }

  /** Common table expression `found`: visible entries of an author or of a project. */
  private singleSourceEntriesSql(
    feed: 'author' | 'project',
    condition: string,
    orderBy: string,
    limit: number,
  ): string {
    const access = feed === 'project' ? ONE_PROJECT : projectAccessRowSql('e.project_id', person);
    return `found as materialized (select e.*, ${SHOWN} from activity_events e join lateral ${access} a on true ${this.targetJoins}
      where e.${feed}_id = (select :${feed}::bigint) and ${condition} and ${VISIBLE} ${orderBy} limit ${limit})`;
  }

  /**
   * Common table expression `found`: visible entries of all projects of the caller. The index of each project yields its
   * first entries. Nearly always the viewer may see all of them, and they are the page. Otherwise the feed
   * `each_of_memberships` finds that many visible entries in each project. A member of many projects then reads the
   * beginning of each feed and not the whole history.
   */
  private membershipEntriesSql(feed: Feed, condition: string, orderBy: string, limit: number): string {
    const projects = `from mine join lateral ${projectAccessRowSql('mine.project_id', person)} a on a.is_member`;
    const from = (shown: string, joins: string): string =>
      `(select ${shown} from activity_events e ${joins} where e.project_id = mine.project_id and ${condition}`;
    if (feed === 'each_of_memberships') {
      const seen = `${from(`e.*, ${SHOWN}`, this.targetJoins)} and ${VISIBLE} ${orderBy} limit ${limit}) e`;
      return `${memberProjectsSql(VIEWER)},
        found as materialized (select e.* ${projects} cross join lateral ${seen} ${orderBy} limit ${limit})`;
    }
    const access = (row: string): string => ACCESS.map((column) => `${row}.${column}`).join(', ');
    const first = `${from('e.*', '')} ${orderBy} limit ${limit}) e`;
    return `${memberProjectsSql(VIEWER)}, near as materialized (
      select e.*, ${access('a')} ${projects} cross join lateral ${first} ${orderBy} limit ${limit}
    ), nearest as materialized (
      select e.*, ${SHOWN}, coalesce(${VISIBLE}, false) as is_visible
      from near e cross join lateral (select ${access('e')}) a ${this.targetJoins}
    ), found as (select * from nearest where ${IS_WHOLE})`;
  }
}

/** Boolean SQL: whether the noteable of the entry `e` is of a kind with the ability. */
function isOfKindWithAbilitySql(kinds: readonly NoteableKind[], ability: Ability): string {
  const types = kinds.filter(({ abilities }) => abilities.includes(ability)).map(({ type }) => `'${type}'`);
  return types.length === 0 ? 'false' : `e.noteable_type in (${types.join(', ')})`;
}

/**
 * Joins that give the noteable or milestone of an entry the alias `about`. There is a join for each kind: for one lateral union of all
 * kinds PostgreSQL caches results (Memoize) that it evicts at each row, which costs more than the lookups.
 */
function entryTargetJoinsSql(kinds: readonly NoteableKind[]): string {
  const joins = kinds.map(
    (
      kind,
    ) => `left join lateral (select ${canReadNoteableRowSql(kind, 'a', VIEWER)} as is_readable, i.title, ${iidSql(kind)} as iid
        from ${kind.table} i where i.id = e.noteable_id and e.noteable_type = '${kind.type}') ${kind.noun} on true`,
  );
  const milestones = `left join lateral (select ${READS_MILESTONES} as is_readable, m.title, m.iid
        from milestones m where m.id = e.noteable_id and e.noteable_type = '${ACTIVITY_TARGET_TYPES.milestone}'
          and ${MILESTONE_APPLIES}) milestone on true`;
  const nouns = [...kinds.map(({ noun }) => noun), 'milestone'];
  const found = ['is_readable', 'title', 'iid'].map(
    (column) => `coalesce(${nouns.map((noun) => `${noun}.${column}`).join(', ')}) as ${column}`,
  );
  return `${joins.join(' ')} ${milestones} cross join lateral (select ${found.join(', ')}) about`;
}

const FILTERS: Filters<ActivityFilter> = {
  action: filter.equals('e.action'),
  target: (target, bind) => `e.target_type = ${bind(ACTIVITY_TARGET_TYPES[target])}`,
  before: (day, bind) => `e.created_at < ${bind(day)}::date::timestamp at time zone 'UTC'`,
  after: (day, bind) => `e.created_at >= (${bind(day)}::date + 1)::timestamp at time zone 'UTC'`,
};
