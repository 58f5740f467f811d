import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { anyone, Endpoint, group as inGroup, page } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { ProjectLists } from '../project-lists/project-lists.queries';
import { project } from '../projects/project.presenter';
import type { ProjectRow } from '../projects/project-row';
import { GroupProjectsParams, SharedProjectsParams } from './group-projects.dto';
import { projectsOfGroup, projectsSharedWith } from './group-projects-set';

const SOURCE = 'requirements 2 §4 Groups; reference identity-and-import 2.7';

@Controller()
export class GroupProjectsController {
  constructor(private readonly lists: ProjectLists) {}

  @Endpoint('GET', '/groups/:id/projects', {
    about: 'Projects of a group and, unless they are not wanted, those shared with it.',
    source: SOURCE,
    within: inGroup('id'),
    may: anyone(),
    params: GroupProjectsParams,
    answers: page(project),
  })
  list({ viewer, params, page, within }: Call<GroupProjectsParams, GroupScope>): Promise<Page<ProjectRow>> {
    const isInside = viewer.isAdmin || within.level >= ACCESS_LEVELS.guest;
    return this.lists.page(viewer, params, page, projectsOfGroup(within, isInside, params));
  }

  @Endpoint('GET', '/groups/:id/projects/shared', {
    about: 'Projects of others that were shared with a group.',
    source: SOURCE,
    within: inGroup('id'),
    may: anyone(),
    params: SharedProjectsParams,
    answers: page(project),
  })
  shared({ viewer, params, page, within }: Call<SharedProjectsParams, GroupScope>): Promise<Page<ProjectRow>> {
    return this.lists.page(viewer, params, page, projectsSharedWith(within.id));
  }
}
