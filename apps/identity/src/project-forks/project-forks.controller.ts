import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { created, Endpoint, project as inProject, signedIn } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { shownProject } from '../project-changes/shown-project';
import { project } from '../projects/project.presenter';
import type { ProjectRow } from '../projects/project-row';
import { ProjectsQueries } from '../projects/projects.queries';
import { NamedNamespaces } from '../scope/named-namespaces';
import { ForkProjectParams } from './project-forks.dto';
import { ProjectForks } from './project-forks.service';

@Controller()
export class ProjectForksController {
  constructor(
    private readonly forks: ProjectForks,
    private readonly namespaces: NamedNamespaces,
    private readonly projects: ProjectsQueries,
  ) {}

  @Endpoint('POST', '/projects/:id/fork', {
    about: "Makes a project of the caller's from another one.",
    source: 'reference identity-and-import 10.2',
    within: inProject('id'),
    may: signedIn(),
    params: ForkProjectParams,
    fails: [409],
    answers: created(project),
  })
  async fork({ viewer, params, within }: Call<ForkProjectParams, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    const named = params.namespace_id ?? params.namespace_path ?? params.namespace;
    const target = named === undefined || named === '' ? null : await this.namespaces.id(viewer, named);
    return shownProject(this.projects, viewer, await this.forks.fork(viewer, within, target, params));
  }
}
