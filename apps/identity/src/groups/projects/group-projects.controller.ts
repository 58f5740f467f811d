import { Controller, Inject } from '@nestjs/common';
import type { Call, GroupScope, ScopeResolver } from '@rookery/api-v4';
import { administrator, anyone, created, Endpoint, group as inGroup, page, SCOPE_RESOLVER } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS, NotFound } from '@rookery/kernel';
import { ProjectListsQueries } from '../../projects/listing/project-lists.queries';
import { ProjectMovesService } from '../../projects/moving/project-moves.service';
import { project } from '../../projects/project.presenter';
import type { ProjectRow } from '../../projects/project-row';
import { groupDetail } from '../details/group.presenter';
import { GroupsQueries } from '../details/groups.queries';
import type { GroupDetailRow } from '../details/groups.queries';
import { ListGroupProjects, MoveIntoGroup, ListSharedProjects } from './group-projects.dto';
import { projectsOfGroup, projectsSharedWith } from './group-projects-set';

const SOURCE = 'requirements 2 §4 Groups; reference identity-and-import 2.7';

@Controller()
export class GroupProjectsController {
  constructor(
    private readonly lists: ProjectListsQueries,
    private readonly moves: ProjectMovesService,
    private readonly queries: GroupsQueries,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', '/groups/:id/projects', {
    about: 'Lists the projects of a group and, unless `with_shared` is false, those shared with it.',
    source: SOURCE,
    within: inGroup('id'),
    may: anyone(),
    params: ListGroupProjects,
    answers: page(project),
  })
  list({ viewer, params, page, within }: Call<ListGroupProjects, GroupScope>): Promise<Page<ProjectRow>> {
    const isInside = viewer.isAdmin || within.level >= ACCESS_LEVELS.guest;
    return this.lists.list(viewer, params, page, projectsOfGroup(within, isInside, params));
  }

  @Endpoint('GET', '/groups/:id/projects/shared', {
    about: 'Lists projects of other namespaces that are shared with a group.',
    source: SOURCE,
    within: inGroup('id'),
    may: anyone(),
    params: ListSharedProjects,
    answers: page(project),
  })
  shared({ viewer, params, page, within }: Call<ListSharedProjects, GroupScope>): Promise<Page<ProjectRow>> {
    return this.lists.list(viewer, params, page, projectsSharedWith(within.id));
  }

  @Endpoint('POST', '/groups/:id/projects/:project_id', {
    about: 'Moves a project into a group.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: administrator(),
    params: MoveIntoGroup,
    fails: [409],
    answers: created(groupDetail),
  })
  async moveInto({ viewer, params, within }: Call<MoveIntoGroup, GroupScope, SignedInViewer>): Promise<GroupDetailRow> {
    const moved = await this.scopes.findProject(params.project_id, viewer);
    if (!moved) throw new NotFound('Project');
    await this.moves.transferProject(viewer, moved.id, within.id);
    return this.queries.findDetails(within, viewer, { secrets: false, projects: false });
  }
}
