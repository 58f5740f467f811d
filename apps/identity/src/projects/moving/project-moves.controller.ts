import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { atLeast, Endpoint, IdOrPath, one, project as inProject } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { NamespaceResolver } from '../../directory/scope/namespace-resolver';
import { project } from '../project.presenter';
import type { ProjectRow } from '../project-row';
import { ProjectsQueries } from '../projects.queries';
import { ProjectMovesService } from './project-moves.service';

export class TransferProject {
  @IdOrPath({ in: 'path' }) id: number | string;
  @IdOrPath({ about: 'Id or full path of a group or personal namespace.' }) namespace: number | string;
}

@Controller()
export class ProjectMovesController {
  constructor(
    private readonly moves: ProjectMovesService,
    private readonly namespaces: NamespaceResolver,
    private readonly projects: ProjectsQueries,
  ) {}

  @Endpoint('PUT', '/projects/:id/transfer', {
    about: 'Moves a project to another namespace. Its former path redirects.',
    source: 'reference identity-and-import 10.2',
    within: inProject('id'),
    may: atLeast('owner'),
    params: TransferProject,
    fails: [409],
    answers: one(project),
  })
  async transfer(call: Call<TransferProject, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    const target = await this.namespaces.resolveId(call.viewer, call.params.namespace);
    await this.moves.transferProject(call.viewer, call.within.id, target);
    return this.projects.findChanged(call.viewer, call.within.id);
  }
}
