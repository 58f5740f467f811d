import { ListProjects } from './project-filters.dto';
import { ignoredProjectOrderParameters } from './project-order';
import { Controller } from '@nestjs/common';
import type { Call, KeysetPage } from '@rookery/api-v4';
import { anyone, Endpoint, page, Text } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { KEYSET, toProjectKeysetPage } from './project-keyset.dto';
import { ProjectListsQueries } from './project-lists.queries';
import type { ProjectSet } from './project-lists.queries';
import { project } from '../project.presenter';
import type { ProjectRow } from '../project-row';
import type { UserRow } from '../../users/user.entity';
import { UsersQueries } from '../../users/users.queries';
import { projectsInPersonalNamespace, projectsStarredBy } from './user-projects-set';

type ProjectsPagePromise = Promise<Page<ProjectRow> | KeysetPage<ProjectRow>>;

export class ListUserProjects extends ListProjects {
  @Text({ in: 'path', about: 'Id or username.' }) user_id: string;
}

@Controller()
export class UserProjectsController {
  constructor(
    private readonly lists: ProjectListsQueries,
    private readonly users: UsersQueries,
  ) {}

  @Endpoint('GET', '/users/:user_id/projects', {
    about: "Lists the projects in a user's own namespace that the caller can see.",
    source: 'reference identity-and-import 10.1, 10.2',
    may: anyone(),
    tokenScopes: ['read_user'],
    params: ListUserProjects,
    withoutEffect: ({ params, viewer }) => ignoredProjectOrderParameters(params, viewer),
    fails: [404],
    answers: page(project, { keyset: KEYSET }),
  })
  async list(call: Call<ListUserProjects>): ProjectsPagePromise {
    return this.listProjectsAmong(call, projectsInPersonalNamespace(await this.requireUser(call)));
  }

  @Endpoint('GET', '/users/:user_id/starred_projects', {
    about:
      'Lists the projects that a user has starred. With a private profile they are visible only to the user and to administrators.',
    source: 'requirements 2 §4 Topics; reference identity-and-import 10.2',
    may: anyone(),
    tokenScopes: ['read_user'],
    params: ListUserProjects,
    withoutEffect: ({ params, viewer }) => ignoredProjectOrderParameters(params, viewer),
    fails: [404],
    answers: page(project, { keyset: KEYSET }),
  })
  async starred(call: Call<ListUserProjects>): ProjectsPagePromise {
    return this.listProjectsAmong(call, projectsStarredBy(await this.requireUser(call), call.viewer));
  }

  private async listProjectsAmong(
    { viewer, params, page, keyset }: Call<ListUserProjects>,
    among: ProjectSet,
  ): ProjectsPagePromise {
    if (!keyset) return this.lists.list(viewer, params, page, among);
    return toProjectKeysetPage(keyset, params.sort, await this.lists.listAfter(viewer, params, keyset, among));
  }

  private async requireUser({ viewer, params }: Call<ListUserProjects>): Promise<UserRow> {
    const user = await this.users.findVisible(viewer, params.user_id);
    if (!user) throw new NotFound('User');
    return user;
  }
}
