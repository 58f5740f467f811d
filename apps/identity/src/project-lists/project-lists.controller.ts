import { Controller } from '@nestjs/common';
import type { Call, KeysetPage, ProjectScope } from '@rookery/api-v4';
import { anyone, Endpoint, page, project as inProject } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { project } from '../projects/project.presenter';
import type { ProjectRow } from '../projects/project-row';
import { ForksParams } from './forks.dto';
import { KEYSET, projectKeyset } from './project-keyset';
import { ListProjectsParams } from './project-filters.dto';
import { ProjectLists } from './project-lists.queries';

const SOURCE = 'reference identity-and-import 10.2';

@Controller()
export class ProjectListsController {
  constructor(private readonly lists: ProjectLists) {}

  @Endpoint('GET', '/projects', {
    about: 'Projects that the caller may see, newest first.',
    source: SOURCE,
    may: anyone(),
    params: ListProjectsParams,
    answers: page(project, { keyset: KEYSET }),
  })
  async list({
    viewer,
    params,
    page,
    keyset,
  }: Call<ListProjectsParams>): Promise<Page<ProjectRow> | KeysetPage<ProjectRow>> {
    if (!keyset) return this.lists.page(viewer, params, page);
    return projectKeyset(keyset, params.sort, await this.lists.after(viewer, params, keyset));
  }

  @Endpoint('GET', '/projects/:id/forks', {
    about: 'What was forked from a project, as far as the caller may see it.',
    source: SOURCE,
    within: inProject('id'),
    may: anyone(),
    params: ForksParams,
    answers: page(project),
  })
  forks({ viewer, params, page, within }: Call<ForksParams, ProjectScope>): Promise<Page<ProjectRow>> {
    return this.lists.page(viewer, params, page, {
      where: (statement) => `p.forked_from_project_id = ${statement.bind(within.id)}`,
    });
  }
}
