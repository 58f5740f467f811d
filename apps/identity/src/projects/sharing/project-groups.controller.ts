import { GRANTABLE_LEVELS } from '@rookery/kernel';
import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import {
  anyone,
  Endpoint,
  Flag,
  IdOrPath,
  ListOf,
  OneOf,
  page,
  presenter,
  project as inProject,
  Search,
} from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { groupReference } from '../../namespaces/namespace.presenter';
import { ProjectGroupsQueries } from './project-groups.queries';
import type { ProjectGroupsFilters } from './project-groups.queries';
import type { GroupReference } from '../../namespaces/namespace-row';

const projectGroup = presenter<GroupReference>('ProjectGroup').fields(groupReference);

/** Source: reference identity-and-import 10.2. */
export class ListProjectGroups implements ProjectGroupsFilters {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Search({ about: 'Part of the name or path.' }) search?: string;
  @ListOf('int', { optional: true }) skip_groups?: number[];
  @Flag({ default: false, about: 'Also lists groups invited to the project.' }) with_shared: boolean;
  @OneOf(GRANTABLE_LEVELS, { optional: true, about: 'Applies to invited groups.' }) shared_min_access_level?: number;
}

@Controller()
export class ProjectGroupsController {
  constructor(private readonly groups: ProjectGroupsQueries) {}

  @Endpoint('GET', '/projects/:id/groups', {
    about: 'Lists the groups above a project and, on request, those invited to it.',
    source: 'reference identity-and-import 10.2',
    within: inProject('id'),
    may: anyone(),
    params: ListProjectGroups,
    answers: page(projectGroup),
  })
  list({ viewer, params, page, within }: Call<ListProjectGroups, ProjectScope>): Promise<Page<GroupReference>> {
    return this.groups.list(viewer, within, params, page);
  }
}
