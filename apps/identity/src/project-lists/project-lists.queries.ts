import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';
import type { List } from '../listing/list-statement';
import type { ProjectRow } from '../projects/project-row';
import { shownProjectsSql } from '../projects/project-shown-sql';
import type { ProjectFilters } from './project-filters';
import { narrow, wantedLevel } from './project-narrowing';
import { orderedBy } from './project-order';
import { reachedProjectRows, reachedProjects, seenProjects } from '../scope/reached-projects-sql';

/**
 * Among which projects a list looks. Shape: `where` is a condition on rows `p`; `parts` are statements of such rows that
 * have nothing in common, each read by an index of its own; `seen` makes a condition in place of the general one.
 */
export interface ProjectSet {
  readonly where?: (statement: ListStatement) => string;
  readonly parts?: (statement: ListStatement) => readonly string[];
  readonly seen?: (general: string) => string;
}

/** Where a list goes on. */
export interface ProjectPlace {
  readonly perPage: number;
  readonly idAfter: number | null;
  readonly idBefore: number | null;
}

/** Lists of projects, with visibility inside the statements. Source: reference identity-and-import 2.7, 10.2. */
@Injectable()
export class ProjectLists {
  constructor(private readonly db: Database) {}

  page(
    viewer: Viewer,
    params: ProjectFilters,
    request: PageRequest,
    among: ProjectSet = {},
  ): Promise<Page<ProjectRow>> {
    const { statement, list } = projectsStatement(viewer, params, among);
    return statement.page<ProjectRow>(this.db, list, request);
  }

  /** By id, from the place that the request names on; one row more than asked for. */
  after(
    viewer: Viewer,
    params: ProjectFilters,
    { perPage, idAfter, idBefore }: ProjectPlace,
    among: ProjectSet = {},
  ): Promise<ProjectRow[]> {
    const within = { ...params, order_by: 'id' as const, id_after: idAfter, id_before: idBefore };
    const { statement, list } = projectsStatement(viewer, within, among);
    return statement.rows<ProjectRow>(this.db, list, perPage);
  }
}

/** The statement of a list, before its page is cut. */
function projectsStatement(
  viewer: Viewer,
  params: ProjectFilters,
  among: ProjectSet,
): { statement: ListStatement; list: List } {
  const statement = new ListStatement();
  const user = `${statement.bind(viewer.userId)}::bigint`;
  const parts = among.parts?.(statement);
  if (among.where) statement.where(among.where(statement));
  // Whoever belongs to a project may see it, so belonging takes the place of the general rule.
  const level = wantedLevel(viewer, params);
  const isGathered = level > 0 && !among.where && !among.parts;
  if (level === 0) {
    const general = seenProjects(viewer, user);
    const seen = among.seen?.(general) ?? general;
    if (seen !== 'true') statement.where(seen);
  } else if (!isGathered) statement.filter(reachedProjects(user, level));
  narrow(statement, viewer, user, params);
  const { order, join } = orderedBy(statement, viewer, params);
  const shape = params.simple || viewer.userId === null ? ('basic' as const) : ('full' as const);
  const show = (ids: string): string => shownProjectsSql(ids, { ...shownOf(params), viewer, user, shape });
  const columns = statement.conditionSql === '' && order === `p.id ${params.sort}` ? 'id' : '*';
  const from = `${isGathered ? reachedProjectRows(user, level, columns) : 'projects'} p${join}`;
  const list = { name: 'projects', from, key: 'p.id', order, show, isGathered };
  return { statement, list: parts ? { ...list, ...united(parts, statement, order) } : list };
}

/** All parts for the count; of each part the first rows only for a page, since no more can be among the first of all. */
function united(parts: readonly string[], statement: ListStatement, order: string): Pick<List, 'from' | 'first'> {
  const firstOf = (part: string, count: number): string =>
    `(select p.* from (${part}) p ${statement.conditionSql} order by ${order} limit ${count})`;
  return {
    from: `(${parts.join(' union all ')}) p`,
    first: (count) => `(${parts.map((part) => firstOf(part, count)).join(' union all ')}) p`,
  };
}

function shownOf({ statistics = false, with_custom_attributes = false }: ProjectFilters) {
  return { statistics, with_custom_attributes };
}
