import { Controller, Inject } from '@nestjs/common';
import type { Call, GroupScope, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import {
  administrator,
  atLeast,
  created,
  Endpoint,
  group as inGroup,
  one,
  project as inProject,
  SCOPE_RESOLVER,
} from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { GroupDetails } from '../group-details/group-details';
import { groupDetail } from '../group-details/group.presenter';
import type { GroupDetailRow } from '../group-details/group-row';
import { NamedNamespaces } from '../scope/named-namespaces';
import { shownProject } from '../project-changes/shown-project';
import { project } from '../projects/project.presenter';
import type { ProjectRow } from '../projects/project-row';
import { ProjectsQueries } from '../projects/projects.queries';
import { MoveIntoGroupParams, TransferProjectParams } from './project-moves.dto';
import { ProjectMoves } from './project-moves.service';

@Controller()
export class ProjectMovesController {
  constructor(
    private readonly moves: ProjectMoves,
    private readonly namespaces: NamedNamespaces,
    private readonly projects: ProjectsQueries,
    private readonly groups: GroupDetails,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('PUT', '/projects/:id/transfer', {
    about: 'Moves a project into another namespace; its former path leads to it.',
    source: 'reference identity-and-import 10.2',
    within: inProject('id'),
    may: atLeast('owner'),
    params: TransferProjectParams,
    fails: [409],
    answers: one(project),
  })
  async transfer(call: Call<TransferProjectParams, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    const target = await this.namespaces.id(call.viewer, call.params.namespace);
    await this.moves.transfer(call.viewer, call.within.id, target);
    return shownProject(this.projects, call.viewer, call.within.id);
  }

  @Endpoint('POST', '/groups/:id/projects/:project_id', {
    about: 'Moves a project into a group.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: administrator(),
    params: MoveIntoGroupParams,
    fails: [409],
    answers: created(groupDetail),
  })
  async intoGroup({
    viewer,
    params,
    within,
  }: Call<MoveIntoGroupParams, GroupScope, SignedInViewer>): Promise<GroupDetailRow> {
    const moved = await this.scopes.project(params.project_id, viewer);
    if (!moved) throw new NotFound('Project');
    await this.moves.intoGroup(viewer, moved.id, within.id);
    return this.groups.of(within, viewer, { secrets: false, projects: false });
  }
}
