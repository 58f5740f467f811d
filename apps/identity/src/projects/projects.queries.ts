import { Injectable } from '@nestjs/common';
import type { Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';
import { seenProjects } from '../scope/reached-projects-sql';
import { live } from '../scope/reach-sql';
import type { ProjectRow } from './project-row';
import { shownProjectsSql } from './project-shown-sql';

/** What a single answer may add. */
export interface ProjectDetail {
  readonly statistics?: boolean;
  readonly license?: boolean;
  readonly with_custom_attributes?: boolean;
}

/** Reads of single projects, and of those that a group shows of itself. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectsQueries {
  constructor(private readonly db: Database) {}

  /** Whoever asks has found that the viewer may see it. */
  async one(viewer: Viewer, id: number, detail: ProjectDetail = {}): Promise<ProjectRow | null> {
    const shape = viewer.userId === null ? 'basic' : 'full';
    const ids = 'select $1::bigint as id, 1 as position';
    const text = shownProjectsSql(ids, { ...detail, viewer, user: '$2::bigint', shape, isSingle: true });
    // The basic shape asks nothing of the viewer.
    const values = shape === 'basic' ? [id] : [id, viewer.userId];
    return (await this.db.query<ProjectRow>(text, values))[0] ?? null;
  }

  /** At most 100 of a group's own, newest first. */
  ofGroup(viewer: Viewer, groupId: number): Promise<ProjectRow[]> {
    return this.listed(viewer, (statement) => `p.namespace_id = ${statement.bind(groupId)}`);
  }

  /** At most 100 of those that others share with the group, newest first. */
  sharedInto(viewer: Viewer, groupId: number): Promise<ProjectRow[]> {
    return this.listed(
      viewer,
      (statement) => `p.id in (select s.source_id from shares s where s.source_type = 'project'
        and s.group_id = ${statement.bind(groupId)} and ${live('s')})`,
    );
  }

  private async listed(viewer: Viewer, where: (statement: ListStatement) => string): Promise<ProjectRow[]> {
    const statement = new ListStatement();
    const user = `${statement.bind(viewer.userId)}::bigint`;
    statement.where(where(statement)).where(seenProjects(viewer, user));
    const show = (ids: string): string => shownProjectsSql(ids, { viewer, user, shape: 'full' });
    const list = { name: 'projects', from: 'projects p', key: 'p.id', order: 'p.id desc', show };
    return (await statement.rows<ProjectRow>(this.db, list, 100)).slice(0, 100);
  }
}
