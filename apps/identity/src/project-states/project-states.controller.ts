import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { accepted, atLeast, checkUnmodifiedSince, created, Endpoint, project as inProject } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { shownProject } from '../project-changes/shown-project';
import { project } from '../projects/project.presenter';
import type { ProjectRow } from '../projects/project-row';
import { ProjectsQueries } from '../projects/projects.queries';
import { DeleteProjectParams, ProjectRefParams } from './project-states.dto';
import { ProjectStates } from './project-states.service';

const SOURCE = 'reference identity-and-import 10.2';
type OnProject<P> = Call<P, ProjectScope, SignedInViewer>;

@Controller()
export class ProjectStatesController {
  constructor(
    private readonly states: ProjectStates,
    private readonly queries: ProjectsQueries,
  ) {}

  @Endpoint('POST', '/projects/:id/archive', {
    about: 'Makes a project read-only.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('owner'),
    params: ProjectRefParams,
    answers: created(project),
  })
  async archive({ viewer, within }: OnProject<ProjectRefParams>): Promise<ProjectRow> {
    await this.states.setArchived(within.id, true);
    return shownProject(this.queries, viewer, within.id);
  }

  @Endpoint('POST', '/projects/:id/unarchive', {
    about: 'Lets a project be written to again.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('owner'),
    params: ProjectRefParams,
    answers: created(project),
  })
  async unarchive({ viewer, within }: OnProject<ProjectRefParams>): Promise<ProjectRow> {
    await this.states.setArchived(within.id, false);
    return shownProject(this.queries, viewer, within.id);
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
  async remove(call: OnProject<DeleteProjectParams>): Promise<void> {
    await this.states.remove(call.viewer, call.within.id, call.params, (at) => checkUnmodifiedSince(call, at));
  }

  @Endpoint('POST', '/projects/:id/restore', {
    about: 'Takes the mark for deletion away.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('owner'),
    params: ProjectRefParams,
    answers: created(project),
  })
  async restore({ viewer, within }: OnProject<ProjectRefParams>): Promise<ProjectRow> {
    await this.states.restore(within.id);
    return shownProject(this.queries, viewer, within.id);
  }
}
