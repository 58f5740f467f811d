import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import type { Bind } from '@rookery/persistence';
import type { ProjectRow } from '../project-row';
import { projectColumns, shapeFor } from '../project-shown-sql';
import type { ProjectFilters } from './project-filters';
import { narrow, wantedLevel } from './project-narrowing';
import { sortingOf } from './project-order';
import { reachedProjectRows, reachedProjects, seenProjects } from '../../directory/reach/reached-projects-sql';

/**
 * Among which projects a list looks. Shape: `where` is a condition on rows `p`; `parts` are statements of such rows that
 * have nothing in common, each read by an index of its own; `seen` makes a condition in place of the general one.
 */
export interface ProjectSet {
  readonly where?: (bind: Bind) => string;
  readonly parts?: (bind: Bind) => readonly string[];
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
export class ProjectListsQueries {
  constructor(private readonly db: Database) {}

  page(
    viewer: Viewer,
    params: ProjectFilters,
    request: PageRequest,
    among: ProjectSet = {},
  ): Promise<Page<ProjectRow>> {
    return projectsOf(viewer, params, among).page(this.db, request);
  }

  /** By id, from the place that the request names on; one row more than asked for. */
  after(
    viewer: Viewer,
    params: ProjectFilters,
    { perPage, idAfter, idBefore }: ProjectPlace,
    among: ProjectSet = {},
  ): Promise<ProjectRow[]> {
    const within = { ...params, order_by: 'id' as const, id_after: idAfter, id_before: idBefore };
    return projectsOf(viewer, within, among).rows(this.db, perPage);
  }
}

const VIEWER = ':viewer::bigint';
/**
 * The same, hidden from the planner in lists of all projects: with rows that it guesses by the person a plan of the one
 * looks cheaper than that of all, and to plan these lists anew takes several times as long as to run them. Lists that
 * begin with few rows (what somebody starred) keep it, so that they go on from those rows.
 */
const HIDDEN_VIEWER = '(select :viewer::bigint)';

function projectsOf(viewer: Viewer, params: ProjectFilters, among: ProjectSet): ListQuery<ProjectRow> {
  const isOfAll = !among.where && !among.parts && !params.starred;
  const user = isOfAll ? HIDDEN_VIEWER : VIEWER;
  const shown = projectColumns({ ...besides(params), viewer, user, shape: shapeFor(viewer, params) });
  const values = { viewer: viewer.userId };
  const list = new ListQuery<ProjectRow>({ name: 'projects', from: 'projects p', ...shown, values });
  const parts = among.parts?.(list.bind);
  if (among.where) list.where(among.where);
  // Whoever belongs to a project may see it, so belonging takes the place of the general rule.
  const level = wantedLevel(viewer, params);
  const isGathered = level > 0 && isOfAll;
  if (level === 0) {
    const general = seenProjects(viewer, user);
    const seen = among.seen?.(general) ?? general;
    if (seen !== 'true') list.where(seen);
  } else if (!isGathered) list.filter(reachedProjects(user, level));
  narrow(list, viewer, user, params);
  const { order, unique, join, columns } = sortingOf(list.bind, viewer, params);
  list.orderBy(order, unique);
  if (parts) return list.amongParts(parts);
  const from = isGathered ? reachedProjectRows(user, level, list.isWhole ? columns : ['*']) : 'projects';
  return list.among({ from: `${from} p${join}`, isGathered });
}

function besides({ statistics = false, with_custom_attributes = false }: ProjectFilters) {
  return { statistics, with_custom_attributes };
}
