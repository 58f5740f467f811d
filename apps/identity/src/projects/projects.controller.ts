import { Controller, Inject } from '@nestjs/common';
import type { Call, KeysetPage, ScopeResolver } from '@rookery/api-v4';
import { anyone, Endpoint, keysetPage, one, page, SCOPE_RESOLVER } from '@rookery/api-v4';
import type { Page, Viewer } from '@rookery/kernel';
import { Moved, NotFound } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { FormerPaths } from './former-paths';
import { project } from './project.presenter';
import type { ProjectRow } from './project-row';
import { ListProjectsParams, ProjectParams } from './projects.dto';
import { ProjectsQueries } from './projects.queries';

const SOURCE = 'reference identity-and-import 10.2';

@Controller()
export class ProjectsController {
  constructor(
    private readonly queries: ProjectsQueries,
    private readonly former: FormerPaths,
    private readonly links: Links,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', '/projects', {
    about: 'Projects that the caller may see, newest first.',
    source: SOURCE,
    may: anyone(),
    params: ListProjectsParams,
    answers: page(project, { keyset: { orderBy: ['id'], offsetCapFor: 'Project' } }),
  })
  async list({
    viewer,
    params,
    page,
    keyset,
  }: Call<ListProjectsParams>): Promise<Page<ProjectRow> | KeysetPage<ProjectRow>> {
    if (!keyset) return this.queries.page(viewer, params, page);
    const within = { ...params, id_after: keyset.idAfter, id_before: keyset.idBefore };
    const rows = await this.queries.after(viewer, within, keyset.perPage);
    return keysetPage(keyset.perPage, rows, ({ id }) => (params.sort === 'asc' ? { id_after: id } : { id_before: id }));
  }

  @Endpoint('GET', '/projects/:id', {
    about: 'One project; its former paths lead here.',
    source: SOURCE,
    may: anyone(),
    params: ProjectParams,
    fails: [301, 404],
    answers: one(project),
  })
  async show({ params, viewer }: Call<ProjectParams>): Promise<ProjectRow> {
    const scope = await this.scopes.project(params.id, viewer);
    if (scope) return this.found(viewer, scope.id);
    const moved = await this.former.project(params.id, viewer);
    if (moved) throw new Moved(this.links.api(`projects/${moved.id}`));
    throw new NotFound('Project');
  }

  private async found(viewer: Viewer, id: number): Promise<ProjectRow> {
    const row = await this.queries.one(viewer, id);
    if (!row) throw new NotFound('Project');
    return row;
  }
}
