import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, filter, ListQuery } from '@rookery/persistence';
import type { Bind, Filters } from '@rookery/persistence';
import { isGroupVisibleSql } from '../../directory/reach/seen-sql';
import { isMembershipOrShareUnexpiredSql } from '../../directory/reach/reach-sql';
import type { GroupReference } from '../../namespaces/namespace-row';

export interface ProjectGroupsFilters {
  readonly search?: string;
  readonly skip_groups?: readonly number[];
  readonly with_shared: boolean;
  readonly shared_min_access_level?: number;
}

interface ProjectWithAncestors {
  readonly id: number;
  readonly namespace: { readonly traversalIds: readonly number[] };
}

/** Groups above a project or invited to it. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectGroupsQueries {
  constructor(private readonly db: Database) {}

  /**
   * Lists groups by id. Groups above are always included, because the project's path names them; invited ones only if
   * the viewer can see them.
   */
  list(
    viewer: Viewer,
    project: ProjectWithAncestors,
    params: ProjectGroupsFilters,
    request: PageRequest,
  ): Promise<Page<GroupReference>> {
    const list = new ListQuery<GroupReference>({
      name: 'project-groups',
      from: 'namespaces n',
      columns: 'n.id, n.name, n.avatar_url, n.full_name, n.full_path',
    }).where(`n.kind = 'group'`);
    const above = `n.id = any(${list.bind(project.namespace.traversalIds)}::bigint[])`;
    return list
      .where((bind) =>
        params.with_shared ? `(${above} or ${invitedGroupsCondition(bind, viewer, project, params)})` : above,
      )
      .narrow(FILTERS, params)
      .readPage(this.db, request);
  }
}

const FILTERS: Filters<ProjectGroupsFilters> = {
  skip_groups: filter.noneOf('n.id'),
  search: filter.contains('n.name', 'n.path'),
};

function invitedGroupsCondition(
  bind: Bind,
  viewer: Viewer,
  project: ProjectWithAncestors,
  params: ProjectGroupsFilters,
): string {
  const level = params.shared_min_access_level;
  const enough = level === undefined ? '' : `and given.access_level >= ${bind(level)}`;
  const user = viewer.isAdmin ? '' : `${bind(viewer.userId)}::bigint`;
  return `(n.id in (select given.group_id from shares given where given.source_type = 'project'
      and given.source_id = ${bind(project.id)} and ${isMembershipOrShareUnexpiredSql('given')} ${enough})
    and ${isGroupVisibleSql(viewer, { namespace: 'n', user })})`;
}
