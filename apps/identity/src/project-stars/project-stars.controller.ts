import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { anyone, created, Endpoint, page, project as inProject, signedIn } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { shownProject } from '../project-changes/shown-project';
import { project } from '../projects/project.presenter';
import type { ProjectRow } from '../projects/project-row';
import { ProjectsQueries } from '../projects/projects.queries';
import { StarParams, StarrersParams } from './project-stars.dto';
import { ProjectStars } from './project-stars.service';
import { starrer } from './starrer.presenter';
import type { StarrerRow } from './starrer-row';
import { StarrersQueries } from './starrers.queries';

const SOURCE = 'reference identity-and-import 10.2';

@Controller()
export class ProjectStarsController {
  constructor(
    private readonly stars: ProjectStars,
    private readonly starrers: StarrersQueries,
    private readonly projects: ProjectsQueries,
  ) {}

  @Endpoint('POST', '/projects/:id/star', {
    about: 'Marks a project with a star of the caller.',
    source: SOURCE,
    within: inProject('id'),
    may: signedIn(),
    params: StarParams,
    fails: [304],
    answers: created(project),
  })
  async star({ viewer, within }: Call<StarParams, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    await this.stars.add(viewer, within.id);
    return shownProject(this.projects, viewer, within.id);
  }

  @Endpoint('POST', '/projects/:id/unstar', {
    about: "Takes the caller's star away.",
    source: SOURCE,
    within: inProject('id'),
    may: signedIn(),
    params: StarParams,
    fails: [304],
    answers: created(project),
  })
  async unstar({ viewer, within }: Call<StarParams, ProjectScope, SignedInViewer>): Promise<ProjectRow> {
    await this.stars.remove(viewer, within.id);
    return shownProject(this.projects, viewer, within.id);
  }

  @Endpoint('GET', '/projects/:id/starrers', {
    about: 'People who marked the project with a star, newest star first.',
    source: SOURCE,
    within: inProject('id'),
    may: anyone(),
    params: StarrersParams,
    answers: page(starrer),
  })
  list(call: Call<StarrersParams, ProjectScope>): Promise<Page<StarrerRow>> {
    return this.starrers.page(call.viewer, call.within.id, call.params, call.page);
  }
}
