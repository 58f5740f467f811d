import { Injectable } from '@nestjs/common';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { containing, ListStatement } from '../listing/list-statement';
import { seenGroupSql } from '../scope/seen-group-sql';
import { live } from '../scope/reach-sql';

export interface ProjectGroupsFilters {
  readonly search?: string;
  readonly skip_groups?: readonly number[];
  readonly with_shared: boolean;
  readonly shared_min_access_level?: number;
}

export interface ProjectGroupRow {
  readonly id: number;
  readonly name: string;
  readonly avatar_url: string | null;
  readonly full_name: string;
  readonly full_path: string;
}

interface Project {
  readonly id: number;
  readonly namespace: { readonly traversalIds: readonly number[] };
}

/** Groups that a project lies in or that are invited to it. Source: reference identity-and-import 10.2; ADR 0121. */
@Injectable()
export class ProjectGroupsQueries {
  constructor(private readonly db: Database) {}

  /** By id. The groups above are named by every project's own path; of invited ones only what the viewer may know. */
  page(
    viewer: Viewer,
    project: Project,
    params: ProjectGroupsFilters,
    request: PageRequest,
  ): Promise<Page<ProjectGroupRow>> {
    const statement = new ListStatement().where(`n.kind = 'group'`);
    const above = `n.id = any(${statement.bind(project.namespace.traversalIds)}::bigint[])`;
    statement.where(params.with_shared ? `(${above} or ${invited(statement, viewer, project, params)})` : above);
    if (params.skip_groups?.length) statement.filter(`n.id <> all(${statement.bind(params.skip_groups)}::bigint[])`);
    if (params.search) {
      const pattern = statement.bind(containing(params.search));
      statement.filter(`(n.name ilike ${pattern} or n.path ilike ${pattern})`);
    }
    const show = (ids: string): string => `select n.id, n.name, n.avatar_url, n.full_name, n.full_path
      from (${ids}) cut join namespaces n on n.id = cut.id order by cut.position`;
    const list = { name: 'project-groups', from: 'namespaces n', key: 'n.id', order: 'n.id asc', show };
    return statement.page<ProjectGroupRow>(this.db, list, request);
  }
}

function invited(statement: ListStatement, viewer: Viewer, project: Project, params: ProjectGroupsFilters): string {
  const level = params.shared_min_access_level;
  const enough = level === undefined ? '' : `and given.access_level >= ${statement.bind(level)}`;
  const user = viewer.isAdmin ? '' : `${statement.bind(viewer.userId)}::bigint`;
  return `(n.id in (select given.group_id from shares given where given.source_type = 'project'
      and given.source_id = ${statement.bind(project.id)} and ${live('given')} ${enough})
    and ${seenGroupSql(viewer, { namespace: 'n', user })})`;
}
