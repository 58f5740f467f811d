import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { anyone, Endpoint, Flag, IdOrPath, one, project as inProject } from '@rookery/api-v4';
import { ACCESS_LEVELS, NotFound } from '@rookery/kernel';
import { project } from './project.presenter';
import type { ProjectRow } from './project-row';
import { ProjectsQueries } from './projects.queries';
import type { ProjectDetail } from './projects.queries';

/** Source: reference identity-and-import 10.2. */
export class ShowProject implements ProjectDetail {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ default: false, about: 'For reporters of the project and administrators.' }) statistics: boolean;
  @Flag({ default: false }) license: boolean;
  @Flag({ default: false, forAdministrators: true }) with_custom_attributes: boolean;
}

@Controller()
export class ProjectsController {
  constructor(private readonly queries: ProjectsQueries) {}

  @Endpoint('GET', '/projects/:id', {
    about: 'Returns a project. Its former paths redirect here.',
    source: 'reference identity-and-import 10.2',
    within: inProject('id'),
    may: anyone(),
    params: ShowProject,
    withoutEffect: ({ params, viewer, within }) =>
      params.statistics && !viewer.isAdmin && within.level < ACCESS_LEVELS.reporter ? ['statistics'] : [],
    fails: [301, 404],
    answers: one(project),
  })
  async show({ params, viewer, within }: Call<ShowProject, ProjectScope>): Promise<ProjectRow> {
    const row = await this.queries.findProject(viewer, within.id, params);
    if (!row) throw new NotFound('Project');
    return row;
  }
}
