import { Controller, Inject } from '@nestjs/common';
import type { Call, KeysetPage, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import {
  accepted,
  anyone,
  atLeast,
  checkUnmodifiedSince,
  created,
  Endpoint,
  keysetPage,
  one,
  page,
  project as inProject,
  SCOPE_RESOLVER,
  signedIn,
} from '@rookery/api-v4';
import type { Page, SignedInViewer, Viewer } from '@rookery/kernel';
import { Moved, NotFound } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { FormerPaths } from './former-paths';
import { project } from './project.presenter';
import type { ProjectRow } from './project-row';
import {
  CreateProjectParams,
  DeleteProjectParams,
  ListProjectsParams,
  ProjectParams,
  UpdateProjectParams,
} from './projects.dto';
import { ProjectsQueries } from './projects.queries';
import { ProjectsService } from './projects.service';

const SOURCE = 'reference identity-and-import 10.2';

@Controller()
export class ProjectsController {
  constructor(
    private readonly projects: ProjectsService,
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

  @Endpoint('POST', '/projects', {
    about: "Makes a project in the caller's own namespace or in a group.",
    source: SOURCE,
    may: signedIn(),
    params: CreateProjectParams,
    answers: created(project),
  })
  async create({ viewer, params }: Call<CreateProjectParams, undefined, SignedInViewer>): Promise<ProjectRow> {
    return this.found(viewer, await this.projects.create(viewer, params));
  }

  @Endpoint('PUT', '/projects/:id', {
    about: 'Changes a project; its visibility only by owners.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('maintainer'),
    params: UpdateProjectParams,
    answers: one(project),
  })
  async update({
    viewer,
    params,
    within,
  }: Call<UpdateProjectParams, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    await this.projects.update(viewer, within, params);
    return this.found(viewer, within.id);
  }

  @Endpoint('DELETE', '/projects/:id', {
    about: 'Marks a project for deletion, or removes a marked one at once.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('owner'),
    params: DeleteProjectParams,
    fails: [400, 412],
    answers: accepted(),
  })
  async remove(call: Call<DeleteProjectParams, ProjectScope, SignedInViewer>): Promise<void> {
    await this.projects.remove(call.viewer, call.within, call.params, (at) => checkUnmodifiedSince(call, at));
  }

  private async found(viewer: Viewer, id: number): Promise<ProjectRow> {
    const row = await this.queries.one(viewer, id);
    if (!row) throw new NotFound('Project');
    return row;
  }
}
