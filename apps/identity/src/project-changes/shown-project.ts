import type { Viewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import type { ProjectRow } from '../projects/project-row';
import type { ProjectsQueries } from '../projects/projects.queries';

/** A project as it is after a change. Errors: NotFound when somebody removed it meanwhile. */
export async function shownProject(queries: ProjectsQueries, viewer: Viewer, id: number): Promise<ProjectRow> {
  const row = await queries.one(viewer, id);
  if (!row) throw new NotFound('Project');
  return row;
}
