import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { administrator, atLeast, created, Endpoint, one, project as inProject, signedIn } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { project } from '../projects/project.presenter';
import type { ProjectRow } from '../projects/project-row';
import { ProjectsQueries } from '../projects/projects.queries';
import { ProjectChanges } from './project-changes.service';
import { ProjectCreation } from './project-creation.service';
import { CreateProjectParams, CreateUserProjectParams, UpdateProjectParams } from './project-fields.dto';
import { shownProject } from './shown-project';

const SOURCE = 'reference identity-and-import 10.2';

@Controller()
export class ProjectChangesController {
  constructor(
    private readonly creation: ProjectCreation,
    private readonly changes: ProjectChanges,
    private readonly queries: ProjectsQueries,
  ) {}

  @Endpoint('POST', '/projects', {
    about: "Makes a project in the caller's own namespace or in a group.",
    source: SOURCE,
    may: signedIn(),
    params: CreateProjectParams,
    fails: [404],
    answers: created(project),
  })
  async create({ viewer, params }: Call<CreateProjectParams, undefined, SignedInViewer>): Promise<ProjectRow> {
    return shownProject(this.queries, viewer, await this.creation.create(viewer, params));
  }

  @Endpoint('POST', '/projects/user/:user_id', {
    about: 'Makes a project for somebody else, in his own namespace unless another is named.',
    source: SOURCE,
    may: administrator(),
    params: CreateUserProjectParams,
    answers: created(project),
  })
  async createFor({ viewer, params }: Call<CreateUserProjectParams, undefined, SignedInViewer>): Promise<ProjectRow> {
    return shownProject(this.queries, viewer, await this.creation.createFor(viewer, params.user_id, params));
  }

  @Endpoint('PUT', '/projects/:id', {
    about: 'Changes a project; its visibility only by owners.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('maintainer'),
    params: UpdateProjectParams,
    answers: one(project),
  })
  async update(call: Call<UpdateProjectParams, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    await this.changes.update(call.viewer, call.within, call.params);
    return shownProject(this.queries, call.viewer, call.within.id);
  }
}
