import { Controller } from '@nestjs/common';
import type { Call, KeysetPage, ProjectScope } from '@rookery/api-v4';
import { anyone, Endpoint, page, project as inProject } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { project } from '../project.presenter';
import type { ProjectRow } from '../project-row';
import { KEYSET, toProjectKeysetPage } from './project-keyset.dto';
import { ListForks, ListProjects } from './project-filters.dto';
import { ignoredProjectOrderParameters } from './project-order';
import { ProjectListsQueries } from './project-lists.queries';

const SOURCE = 'reference identity-and-import 10.2';

@Controller()
export class ProjectListsController {
  constructor(private readonly lists: ProjectListsQueries) {}

  @Endpoint('GET', '/projects', {
    about: 'Lists the projects that the caller can see, newest first.',
    source: SOURCE,
    may: anyone(),
    params: ListProjects,
    withoutEffect: ({ params, viewer }) => ignoredProjectOrderParameters(params, viewer),
    answers: page(project, { keyset: KEYSET }),
  })
  async list({ viewer, params, page, keyset }: Call<ListProjects>): Promise<Page<ProjectRow> | KeysetPage<ProjectRow>> {
    if (!keyset) return this.lists.list(viewer, params, page);
    return toProjectKeysetPage(keyset, params.sort, await this.lists.listAfter(viewer, params, keyset));
  }

  @Endpoint('GET', '/projects/:id/forks', {
    about: 'Lists the forks of a project that the caller can see.',
    source: SOURCE,
    within: inProject('id'),
    may: anyone(),
    params: ListForks,
    withoutEffect: ({ params, viewer }) => ignoredProjectOrderParameters(params, viewer),
    answers: page(project),
  })
  forks({ viewer, params, page, within }: Call<ListForks, ProjectScope>): Promise<Page<ProjectRow>> {
    return this.lists.list(viewer, params, page, {
      where: (bind) => `p.forked_from_project_id = ${bind(within.id, 'forked_from')}`,
    });
  }
}
