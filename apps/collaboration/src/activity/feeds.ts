import type { PageRequest } from '@rookery/kernel';
import { COUNT_LIMIT, offsetOf } from '@rookery/kernel';
import { projectAccessSql, readerOfAccess } from '../audience/access-sql';
import { arraySql } from '../json-rows/json-shape';
import type { JsonShape } from '../json-rows/json-shape';
import { visibleIssueSql } from '../noteables/noteable-kinds';
import { activityEventShape } from './activity-event.shape';
import { ACTIVITY_TARGET_TYPES } from './activity-words';
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

// The first values of every statement: the caller, then what the feed is of.
const VIEWER = '$1::bigint';
const IS_ADMIN = '$2::boolean';
const person = { user: VIEWER, isAdmin: IS_ADMIN, isExternal: '$3::boolean' };
/** What the request's own decision says of the one project: $4 id, $5 name, $6-$9 what the caller reads. */
const ONE_PROJECT = `(select $4::bigint as project_id, $5::text as name, $6::boolean as reads_issues,
      $7::boolean as is_member, $8::boolean as reads_confidential, $9::boolean as reads_internal)`;

/** Source: reference work-tracking 7.7. */
const VISIBLE = `(e.noteable_id is null or (a.reads_issues and i.id is not null
        and ${visibleIssueSql('i', readerOfAccess('a', VIEWER))}
        and (e.target_type <> 'Note' or (n.id is not null and (not n.internal or a.reads_internal)))))`;
const SUBJECTS = `left join issues i on i.id = e.noteable_id and e.noteable_type = 'Issue'
      left join notes n on n.id = e.target_id and e.target_type = 'Note'`;

/**
 * The statements of feeds. Whoever reads is judged per project and entry inside the statement, so pages are full; the
 * page is cut along the index of the feed. Source: performance P4, P8; reference work-tracking 7; ADR 0081.
 */
export class ActivityFeeds {
  private readonly shape: JsonShape;

  constructor(externalUrl: string) {
    this.shape = activityEventShape({ externalUrl, viewer: VIEWER, isAdmin: IS_ADMIN });
  }

  get presenter() {
    return this.shape.presenter;
  }

  /** One row: the count, which stops past COUNT_LIMIT, whether there is more, and the page. Adds the filter's values. */
  pageSql(feed: Feed, filter: ActivityFilter, page: PageRequest, values: unknown[]): string {
    const narrowed = conditions(filter, values);
    const offset = offsetOf(page);
    const end = offset + page.perPage;
    const by = `e.created_at ${filter.sort}, e.id ${filter.sort}`;
    const seen = (count: number): string => entries(feed, narrowed, by, count);
    const cut = `(select e.* from ${seen(end)} e order by ${by} limit ${page.perPage} offset ${offset}) e`;
    const hasMore =
      end < COUNT_LIMIT ? 'null' : `exists (select 1 from ${seen(end + 1)} e order by ${by} limit 1 offset ${end})`;
    const joined = `${SUBJECTS} left join directory_users a on a.id = n.author_id
      left join directory_users author on author.id = e.author_id`;
    return `${feed === 'memberships' ? `with ${memberProjectsSql(VIEWER)}` : ''}
      select ${counted(feed, narrowed)} as counted, ${hasMore}::boolean as has_more,
        ${arraySql(this.shape, `from ${cut} ${joined}`, by)} as json
      where ${IS_ADMIN} is not null and $3::boolean is not null`;
  }
}

/** Visible entries, at least the first `count` of them in order. */
function entries(feed: Feed, narrowed: string, by: string, count: number): string {
  if (feed !== 'memberships') {
    return `(select e.*, a.name as project_name from activity_events e
      join lateral ${accessOf(feed, 'e.project_id')} a on true ${SUBJECTS}
      where ${ofFeed(feed)} and ${narrowed} and ${VISIBLE} order by ${by} limit ${count})`;
  }
  // A few of each project, so that a member of many reads as many pages' beginnings and not their whole history.
  return `(select e.* from mine join lateral ${accessOf(feed, 'mine.project_id')} a on a.is_member
    cross join lateral (select e.*, a.name as project_name from activity_events e ${SUBJECTS}
      where e.project_id = mine.project_id and ${narrowed} and ${VISIBLE} order by ${by} limit ${count}) e)`;
}

/** As with to-dos: an index alone is counted where the caller reads everything, else entry by entry. */
function counted(feed: Feed, narrowed: string): string {
  const most = `limit ${COUNT_LIMIT + 1}`;
  const own = `select e.project_id from activity_events e where ${narrowed}`;
  // Fenced by its own limit, so that no plan reads the whole table to find a few projects.
  const rows =
    feed === 'memberships'
      ? `select e.project_id from mine cross join lateral (${own} and e.project_id = mine.project_id ${most}) e`
      : `${own} and ${ofFeed(feed)}`;
  return `(select coalesce(sum(case when a.reads_issues and a.reads_internal then found.count else (
        select count(*) from (select 1 from activity_events e ${SUBJECTS}
          where ${ofFeed(feed)} and ${narrowed} and e.project_id = found.project_id and ${VISIBLE} ${most}) seen) end), 0)::integer
      from (select e.project_id, count(*) as count from (${rows} ${most}) e group by e.project_id) found
      join lateral ${accessOf(feed, 'found.project_id')} a on ${feed === 'memberships' ? 'a.is_member' : 'true'})`;
}

function accessOf(feed: Feed, project: string): string {
  return feed === 'project' ? ONE_PROJECT : projectAccessSql(project, person);
}

function ofFeed(feed: Feed): string {
  switch (feed) {
    case 'author':
      return 'e.author_id = $4::bigint';
    case 'project':
      return 'e.project_id = $4::bigint';
    case 'memberships':
      return 'true';
  }
}

function conditions(filter: ActivityFilter, values: unknown[]): string {
  const parts = ['true'];
  const add = (sql: (parameter: string) => string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    parts.push(sql(`$${values.length}`));
  };
  add((p) => `e.action = ${p}::text`, filter.action);
  add((p) => `e.target_type = ${p}::text`, filter.target && ACTIVITY_TARGET_TYPES[filter.target]);
  add((p) => `e.created_at < ${p}::date::timestamp at time zone 'UTC'`, filter.before);
  add((p) => `e.created_at >= (${p}::date + 1)::timestamp at time zone 'UTC'`, filter.after);
  return parts.join(' and ');
}

/** Only for the document: the statements build the JSON. */
export const activityEventPresenter = new ActivityFeeds('http://localhost').presenter;
