import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';
import type { ProjectRow } from '../projects/project-row';
import { shownProjectsSql } from '../projects/project-shown-sql';
import type { ProjectFilters } from './project-filters';
import { narrow, wantedLevel } from './project-narrowing';
import { orderedBy } from './project-order';
import { seenProjects } from './project-reach';

/**
 * Among which projects a list looks. Shape: `from` gives rows `p` of projects, `where` a condition on them; `seen` a
 * condition in place of the general one, made of that (`'true'` where the viewer sees all of them).
 */
export interface ProjectSet {
  readonly from?: (statement: ListStatement) => string;
  readonly where?: (statement: ListStatement) => string;
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
export function projectsStatement(viewer: Viewer, params: ProjectFilters, among: ProjectSet = {}) {
  const statement = new ListStatement();
  const user = `${statement.bind(viewer.userId)}::bigint`;
  const from = among.from?.(statement) ?? 'projects p';
  if (among.where) statement.where(among.where(statement));
  // Whoever belongs to a project may see it, so belonging takes the place of the general rule.
  if (wantedLevel(viewer, params) === 0) {
    const general = seenProjects(viewer, user);
    const seen = among.seen?.(general) ?? general;
    if (seen !== 'true') statement.where(seen);
  }
  narrow(statement, viewer, user, params);
  const { order, join } = orderedBy(statement, viewer, params);
  const shape = params.simple || viewer.userId === null ? ('basic' as const) : ('full' as const);
  const show = (ids: string): string => shownProjectsSql(ids, { ...shownOf(params), viewer, user, shape });
  return { statement, list: { name: 'projects', from: `${from}${join}`, key: 'p.id', order, show } };
}

function shownOf({ statistics = false, with_custom_attributes = false }: ProjectFilters) {
  return { statistics, with_custom_attributes };
}
