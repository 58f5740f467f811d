import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import {
  anyone,
  created,
  Endpoint,
  IdOrPath,
  instant,
  page,
  presenter,
  project as inProject,
  Search,
  signedIn,
} from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { userSummary } from '../../users/user.presenter';
import { project } from '../project.presenter';
import type { ProjectRow } from '../project-row';
import { ProjectsQueries } from '../projects.queries';
import { ProjectStarsService } from './project-stars.service';
import { StarrersQueries } from './starrers.queries';
import type { StarrerRow } from './starrers.queries';

const SOURCE = 'reference identity-and-import 10.2';

const starrer = presenter<StarrerRow>('ProjectStarrer').fields({
  starred_since: [instant, (row) => row.starred_since],
  user: [userSummary.asField(), (row) => row.user],
});

export class StarProject {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class ListStarrers extends StarProject {
  @Search({ about: 'Part of the name or username, or a whole public e-mail address.' }) search?: string;
}

@Controller()
export class ProjectStarsController {
  constructor(
    private readonly stars: ProjectStarsService,
    private readonly starrers: StarrersQueries,
    private readonly projects: ProjectsQueries,
  ) {}

  @Endpoint('POST', '/projects/:id/star', {
    about: 'Stars a project.',
    source: SOURCE,
    within: inProject('id'),
    may: signedIn(),
    params: StarProject,
    fails: [304],
    answers: created(project),
  })
  async star({ viewer, within }: Call<StarProject, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    await this.stars.addStar(viewer, within.id);
    return this.projects.findChanged(viewer, within.id);
  }

  @Endpoint('POST', '/projects/:id/unstar', {
    about: "Removes the caller's star from a project.",
    source: SOURCE,
    within: inProject('id'),
    may: signedIn(),
    params: StarProject,
    fails: [304],
    answers: created(project),
  })
  async unstar({ viewer, within }: Call<StarProject, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    await this.stars.remove(viewer, within.id);
    return this.projects.findChanged(viewer, within.id);
  }

  @Endpoint('GET', '/projects/:id/starrers', {
    about: 'Lists users who have starred the project, newest star first.',
    source: SOURCE,
    within: inProject('id'),
    may: anyone(),
    params: ListStarrers,
    answers: page(starrer),
  })
  list(call: Call<ListStarrers, ProjectScope>): Promise<Page<StarrerRow>> {
    return this.starrers.list(call.viewer, call.within.id, call.params, call.page);
  }
}
