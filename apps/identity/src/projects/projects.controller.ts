import type { ProjectDetail } from './projects.queries';
import { Controller, Inject } from '@nestjs/common';
import type { Call, ScopeResolver } from '@rookery/api-v4';
import { anyone, Endpoint, Flag, IdOrPath, one, SCOPE_RESOLVER } from '@rookery/api-v4';
import { Moved, NotFound } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { project } from './project.presenter';
import type { ProjectRow } from './project-row';
import { ProjectsQueries } from './projects.queries';

/** Source: reference identity-and-import 10.2. */
export class ShowProject implements ProjectDetail {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ default: false, about: 'For reporters of the project and administrators.' }) statistics: boolean;
  @Flag({ default: false }) license: boolean;
  @Flag({ default: false, about: 'For administrators.' }) with_custom_attributes: boolean;
}

@Controller()
export class ProjectsController {
  constructor(
    private readonly queries: ProjectsQueries,
    private readonly links: Links,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', '/projects/:id', {
    about: 'Returns a project. Its former paths redirect here.',
    source: 'reference identity-and-import 10.2',
    may: anyone(),
    params: ShowProject,
    fails: [301, 404],
    answers: one(project),
  })
  async show({ params, viewer }: Call<ShowProject>): Promise<ProjectRow> {
    const scope = await this.scopes.project(params.id, viewer);
    const row = scope && (await this.queries.one(viewer, scope.id, params));
    if (row) return row;
    const formerId = typeof params.id === 'string' ? await this.queries.formerId(params.id) : null;
    // Resolved in any case, so that a hidden project at a new path takes as long as a path that never existed.
    const moved = await this.scopes.project(formerId ?? 0, viewer);
    if (moved) throw new Moved(this.links.api(`projects/${moved.id}${queryOf(params)}`));
    throw new NotFound('Project');
  }
}

/** Keeps the request's parameters in the redirect. */
function queryOf({ statistics, license, with_custom_attributes }: ShowProject): string {
  const asked = Object.entries({ statistics, license, with_custom_attributes }).filter(([, isOn]) => isOn);
  return asked.length === 0 ? '' : `?${asked.map(([name]) => `${name}=true`).join('&')}`;
}
