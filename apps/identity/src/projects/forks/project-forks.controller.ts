import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { created, Endpoint, project as inProject, signedIn } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { project } from '../project.presenter';
import type { ProjectRow } from '../project-row';
import { ProjectsQueries } from '../projects.queries';
import { NamespaceResolver } from '../../directory/scope/namespace-resolver';
import { ForkProject } from './project-forks.dto';
import { ProjectForksService } from './project-forks.service';

@Controller()
export class ProjectForksController {
  constructor(
    private readonly forks: ProjectForksService,
    private readonly namespaces: NamespaceResolver,
    private readonly projects: ProjectsQueries,
  ) {}

  @Endpoint('POST', '/projects/:id/fork', {
    about: "Forks a project into the caller's namespace or another one.",
    source: 'reference identity-and-import 10.2',
    within: inProject('id'),
    may: signedIn(),
    params: ForkProject,
    fails: [409],
    answers: created(project),
  })
  async fork({ viewer, params, within }: Call<ForkProject, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    const named = params.namespace_id ?? params.namespace_path ?? params.namespace;
    const target = named === undefined || named === '' ? null : await this.namespaces.resolveId(viewer, named);
    return this.projects.findChanged(viewer, await this.forks.forkProject(viewer, within, target, params));
  }
}
