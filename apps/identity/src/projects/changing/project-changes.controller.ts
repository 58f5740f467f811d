import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { administrator, atLeast, created, Endpoint, one, project as inProject, signedIn } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { project } from '../project.presenter';
import type { ProjectRow } from '../project-row';
import { ProjectsQueries } from '../projects.queries';
import { ProjectChangesService } from './project-changes.service';
import { ProjectCreationService } from './project-creation.service';
import { CreateProject, CreateUserProject, UpdateProject } from './project-fields.dto';

const SOURCE = 'reference identity-and-import 10.2';

@Controller()
export class ProjectChangesController {
  constructor(
    private readonly creation: ProjectCreationService,
    private readonly changes: ProjectChangesService,
    private readonly queries: ProjectsQueries,
  ) {}

  @Endpoint('POST', '/projects', {
    about: "Creates a project in the caller's own namespace or in a group.",
    source: SOURCE,
    may: signedIn(),
    params: CreateProject,
    fails: [404],
    answers: created(project),
  })
  async create({ viewer, params }: Call<CreateProject, undefined, SignedInViewer>): Promise<ProjectRow> {
    return this.queries.findChanged(viewer, await this.creation.create(viewer, params));
  }

  @Endpoint('POST', '/projects/user/:user_id', {
    about: "Creates a project for another user, by default in that user's own namespace.",
    source: SOURCE,
    may: administrator(),
    params: CreateUserProject,
    answers: created(project),
  })
  async createFor({ viewer, params }: Call<CreateUserProject, undefined, SignedInViewer>): Promise<ProjectRow> {
    return this.queries.findChanged(viewer, await this.creation.createForUser(viewer, params.user_id, params));
  }

  @Endpoint('PUT', '/projects/:id', {
    about: 'Changes a project. Only owners may change its visibility.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('maintainer'),
    params: UpdateProject,
    answers: one(project),
  })
  async update(call: Call<UpdateProject, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    await this.changes.update(call.viewer, call.within, call.params);
    return this.queries.findChanged(call.viewer, call.within.id);
  }
}
