import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { accepted, atLeast, checkUnmodifiedSince, created, Endpoint, project as inProject } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { project } from '../../projects/project.presenter';
import type { ProjectRow } from '../../projects/project-row';
import { ProjectsQueries } from '../../projects/projects.queries';
import { RemoveProject, IdentifyProject } from '../removal.dto';
import { ProjectStatesService } from './project-states.service';

const SOURCE = 'reference identity-and-import 10.2';
type ProjectCall<P> = Call<P, ProjectScope, SignedInViewer>;

@Controller()
export class ProjectStatesController {
  constructor(
    private readonly states: ProjectStatesService,
    private readonly queries: ProjectsQueries,
  ) {}

  @Endpoint('POST', '/projects/:id/archive', {
    about: 'Makes a project read-only.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('owner'),
    params: IdentifyProject,
    answers: created(project),
  })
  async archive({ viewer, within }: ProjectCall<IdentifyProject>): Promise<ProjectRow> {
    await this.states.setArchived(within.id, true);
    return this.queries.findChanged(viewer, within.id);
  }

  @Endpoint('POST', '/projects/:id/unarchive', {
    about: 'Makes an archived project writable again.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('owner'),
    params: IdentifyProject,
    answers: created(project),
  })
  async unarchive({ viewer, within }: ProjectCall<IdentifyProject>): Promise<ProjectRow> {
    await this.states.setArchived(within.id, false);
    return this.queries.findChanged(viewer, within.id);
  }

  @Endpoint('DELETE', '/projects/:id', {
    about: 'Marks a project for deletion, or removes a marked one at once.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('owner'),
    params: RemoveProject,
    fails: [400, 412],
    answers: accepted(),
  })
  async remove(call: ProjectCall<RemoveProject>): Promise<void> {
    await this.states.remove(call.viewer, call.within.id, call.params, (at) => checkUnmodifiedSince(call, at));
  }

  @Endpoint('POST', '/projects/:id/restore', {
    about: 'Removes the mark for deletion.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('owner'),
    params: IdentifyProject,
    answers: created(project),
  })
  async restore({ viewer, within }: ProjectCall<IdentifyProject>): Promise<ProjectRow> {
    await this.states.restore(viewer, within.id);
    return this.queries.findChanged(viewer, within.id);
  }
}
