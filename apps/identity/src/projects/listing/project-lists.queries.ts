import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import type { Bind } from '@rookery/persistence';
import type { ProjectRow } from '../project-row';
import { projectColumns, chooseShape } from '../project-shown-sql';
import type { ProjectFilters } from './project-filters';
import { narrowProjects, requiredProjectListLevel } from './project-narrowing';
import { toProjectSorting } from './project-order';
import {
  reachedProjectRowsSql,
  reachedProjectsFilterSql,
  visibleProjectsFilterSql,
} from '../../directory/reach/reached-projects-sql';

/**
 * Restricts a list to a set of projects. `where` is a condition on rows `p`; `parts` are statements that select
 * disjoint sets of such rows, each by its own index; `seen` replaces the general visibility condition.
 */
export interface ProjectSet {
  readonly where?: (bind: Bind) => string;
  readonly parts?: (bind: Bind) => readonly string[];
  readonly seen?: (general: string) => string;
}

/** Position of a page: after or before an id. */
export interface ProjectPlace {
  readonly perPage: number;
  readonly idAfter: number | null;
  readonly idBefore: number | null;
}

/** Lists of projects, with visibility inside the statements. Source: reference identity-and-import 2.7, 10.2. */
@Injectable()
export class ProjectListsQueries {
  constructor(private readonly db: Database) {}

  list(
    viewer: Viewer,
    params: ProjectFilters,
    request: PageRequest,
    among: ProjectSet = {},
  ): Promise<Page<ProjectRow>> {
    return projectsQuery(viewer, params, among).readPage(this.db, request);
  }

  /** Projects by id from a position. Returns one row more than `perPage`. */
  listAfter(
    viewer: Viewer,
    params: ProjectFilters,
    { perPage, idAfter, idBefore }: ProjectPlace,
    among: ProjectSet = {},
  ): Promise<ProjectRow[]> {
    const within = { ...params, order_by: 'id' as const, id_after: idAfter, id_before: idBefore };
    return projectsQuery(viewer, within, among).readRows(this.db, perPage);
  }
}

const VIEWER = ':viewer::bigint';
/**
 * `VIEWER` hidden from the planner, for lists of all projects. If it sees the value, it estimates rows for this user, prefers
 * a custom plan to the generic one, and planning takes several times as long as execution. Lists that begin with few rows,
 * such as a user's starred projects, use `VIEWER`, so that the plan starts from those rows.
 */
const HIDDEN_VIEWER = '(select :viewer::bigint)';

function projectsQuery(viewer: Viewer, params: ProjectFilters, among: ProjectSet): ListQuery<ProjectRow> {
  const isOfAll = !among.where && !among.parts && !params.starred;
  const user = isOfAll ? HIDDEN_VIEWER : VIEWER;
  const shown = projectColumns({ ...pickAdditionalFields(params), viewer, user, shape: chooseShape(viewer, params) });
  const values = { viewer: viewer.userId };
  const list = new ListQuery<ProjectRow>({ name: 'projects', from: 'projects p', ...shown, values });
  const parts = among.parts?.(list.bind);
  if (among.where) list.where(among.where);
  // Members of a project can see it, so a required level replaces the general visibility condition.
  const level = requiredProjectListLevel(viewer, params);
  const isGathered = level > 0 && isOfAll;
  if (level === 0) {
    const general = visibleProjectsFilterSql(viewer, user);
    const seen = among.seen?.(general) ?? general;
    if (seen !== 'true') list.where(seen);
  } else if (!isGathered) list.filter(reachedProjectsFilterSql(user, level));
  narrowProjects(list, viewer, user, params);
  const { order, unique, join, columns } = toProjectSorting(list.bind, viewer, params);
  list.orderBy(order, unique);
  if (parts) return list.fromParts(parts);
  const from = isGathered ? reachedProjectRowsSql(user, level, list.isWhole ? columns : ['*']) : 'projects';
  return list.fromSource({ from: `${from} p${join}`, isGathered });
}

function pickAdditionalFields({ statistics = false, with_custom_attributes = false }: ProjectFilters) {
  return { statistics, with_custom_attributes };
}
