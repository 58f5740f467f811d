import { Controller, Inject } from '@nestjs/common';
import type { Call, ScopeResolver } from '@rookery/api-v4';
import { anyone, Endpoint, one, SCOPE_RESOLVER } from '@rookery/api-v4';
import { Moved, NotFound } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { FormerPaths } from './former-paths';
import { project } from './project.presenter';
import type { ProjectRow } from './project-row';
import { ProjectParams } from './projects.dto';
import { ProjectsQueries } from './projects.queries';

@Controller()
export class ProjectsController {
  constructor(
    private readonly queries: ProjectsQueries,
    private readonly former: FormerPaths,
    private readonly links: Links,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', '/projects/:id', {
    about: 'One project; its former paths lead here.',
    source: 'reference identity-and-import 10.2',
    may: anyone(),
    params: ProjectParams,
    fails: [301, 404],
    answers: one(project),
  })
  async show({ params, viewer }: Call<ProjectParams>): Promise<ProjectRow> {
    const scope = await this.scopes.project(params.id, viewer);
    const row = scope && (await this.queries.one(viewer, scope.id, params));
    if (row) return row;
    const moved = await this.former.project(params.id, viewer);
    if (moved) throw new Moved(this.links.api(`projects/${moved.id}${queryOf(params)}`));
    throw new NotFound('Project');
  }
}

/** What was asked for is asked for there too. */
function queryOf({ statistics, license, with_custom_attributes }: ProjectParams): string {
  const asked = Object.entries({ statistics, license, with_custom_attributes }).filter(([, isOn]) => isOn);
  return asked.length === 0 ? '' : `?${asked.map(([name]) => `${name}=true`).join('&')}`;
}
