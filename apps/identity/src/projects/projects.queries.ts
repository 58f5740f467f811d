import { Injectable } from '@nestjs/common';
import type { Viewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import type { Condition } from '@rookery/persistence';
import { visibleProjectsFilterSql } from '../directory/reach/reached-projects-sql';
import { isMembershipOrShareUnexpiredSql } from '../directory/reach/reach-sql';
import type { ProjectRow } from './project-row';
import { projectColumns, chooseShape } from './project-shown-sql';
import type { ProjectSelection } from './project-shown-sql';

/** Optional parts of a single answer. */
export interface ProjectDetail {
  readonly statistics?: boolean;
  readonly license?: boolean;
  readonly with_custom_attributes?: boolean;
}

/** Reads of single projects, and of those in the answer about a group. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectsQueries {
  constructor(private readonly db: Database) {}

  /** Reads a project. The caller has checked that the viewer can see it. */
  async findProject(viewer: Viewer, id: number, detail: ProjectDetail = {}): Promise<ProjectRow | null> {
    const found = await unfilteredProjectsQuery(viewer, { ...detail, isSingle: true })
      .where((bind) => `p.id = ${bind(id)}`)
      .readOne(this.db);
    return found ?? null;
  }

  /** Reads a project after a change. Errors: NotFound when it was removed meanwhile. */
  async findChanged(viewer: Viewer, id: number): Promise<ProjectRow> {
    const row = await this.findProject(viewer, id);
    if (!row) throw new NotFound('Project');
    return row;
  }

  /** Lists at most 100 of a group's own projects, newest first. */
  ofGroup(viewer: Viewer, groupId: number): Promise<ProjectRow[]> {
    return this.listVisibleWhere(viewer, (bind) => `p.namespace_id = ${bind(groupId)}`);
  }

  /** Lists at most 100 of the projects that are shared with a group, newest first. */
  sharedInto(viewer: Viewer, groupId: number): Promise<ProjectRow[]> {
    return this.listVisibleWhere(
      viewer,
      (bind) => `p.id in (select s.source_id from shares s where s.source_type = 'project'
        and s.group_id = ${bind(groupId)} and ${isMembershipOrShareUnexpiredSql('s')})`,
    );
  }

  private async listVisibleWhere(viewer: Viewer, where: Condition): Promise<ProjectRow[]> {
    const list = unfilteredProjectsQuery(viewer)
      .where(where)
      .where((bind) => visibleProjectsFilterSql(viewer, `${bind(viewer.userId)}::bigint`))
      .orderBy([['p.id', 'desc']]);
    return (await list.readRows(this.db, 100)).slice(0, 100);
  }
}

function unfilteredProjectsQuery(
  viewer: Viewer,
  detail: Omit<ProjectSelection, 'viewer' | 'user' | 'shape'> = {},
): ListQuery<ProjectRow> {
  const shown = projectColumns({ ...detail, viewer, user: '$1::bigint', shape: chooseShape(viewer) });
  return new ListQuery<ProjectRow>({ name: 'projects', from: 'projects p', ...shown, values: [viewer.userId] });
}
