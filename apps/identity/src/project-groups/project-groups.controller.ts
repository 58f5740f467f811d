import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { anyone, Endpoint, page, project as inProject } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { projectGroup } from './project-group.presenter';
import { ProjectGroupsParams } from './project-groups.dto';
import { ProjectGroupsQueries } from './project-groups.queries';
import type { ProjectGroupRow } from './project-groups.queries';

@Controller()
export class ProjectGroupsController {
  constructor(private readonly groups: ProjectGroupsQueries) {}

  @Endpoint('GET', '/projects/:id/groups', {
    about: 'The groups that a project lies in, up to the top, and on request those invited to it.',
    source: 'reference identity-and-import 10.2',
    within: inProject('id'),
    may: anyone(),
    params: ProjectGroupsParams,
    answers: page(projectGroup),
  })
  list({ viewer, params, page, within }: Call<ProjectGroupsParams, ProjectScope>): Promise<Page<ProjectGroupRow>> {
    return this.groups.page(viewer, within, params, page);
  }
}
