import { Controller, Inject } from '@nestjs/common';
import type { Call, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import {
  atLeast,
  bool,
  created,
  Endpoint,
  int,
  noContent,
  one,
  page,
  pickFields,
  presenter,
  project as inProject,
  SCOPE_RESOLVER,
} from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { groupReference } from '../../namespaces/namespace.presenter';
import { ProjectListsQueries } from '../listing/project-lists.queries';
import { project } from '../project.presenter';
import type { ProjectRow } from '../project-row';
import { JobTokenScopeGroupsQueries } from './job-token-scope-groups.queries';
import {
  CreateAdmittedGroup,
  CreateAdmittedProject,
  IdentifyJobTokenScope,
  IdentifyAdmittedGroup,
  IdentifyAdmittedProject,
  UpdateJobTokenScope,
} from './job-admission.dto';
import { JobTokenScopeService } from './job-admission.service';
import type { GroupReference } from '../../namespaces/namespace-row';

const SCOPE = '/projects/:id/job_token_scope';
const manages = {
  source: 'reference identity-and-import 4.10',
  within: inProject('id'),
  may: atLeast('maintainer'),
} as const;

const jobTokenScope = presenter<{ readonly isLimited: boolean }>('JobTokenScope').fields({
  inbound_enabled: [
    bool,
    ({ isLimited }) => isLimited,
    { about: 'Whether only jobs of listed projects are admitted.' },
  ],
  outbound_enabled: [
    bool,
    () => false,
    { about: 'Always false: jobs of the project may use each project that admits them.' },
  ],
});
const admittedProject = presenter<{ readonly source: number; readonly target: number }>('JobTokenScopeProject').fields({
  source_project_id: [int, ({ source }) => source, { about: 'Id of the project that admits jobs.' }],
  target_project_id: [int, ({ target }) => target, { about: 'Id of the project whose jobs are admitted.' }],
});
const admittedGroup = presenter<{ readonly source: number; readonly target: number }>('JobTokenScopeGroup').fields({
  source_project_id: [int, ({ source }) => source, { about: 'Id of the project that admits jobs.' }],
  target_group_id: [int, ({ target }) => target, { about: 'Id of the group whose jobs are admitted.' }],
});
const groupInScope = presenter<GroupReference>('GroupInJobTokenScope').fields(
  pickFields(groupReference, 'id', 'web_url', 'name'),
);

/** Projects and groups whose jobs may use a project with their tokens. */
@Controller()
export class JobAdmissionController {
  constructor(
    private readonly admission: JobTokenScopeService,
    private readonly projects: ProjectListsQueries,
    private readonly groups: JobTokenScopeGroupsQueries,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', SCOPE, {
    ...manages,
    about: 'Shows whether a project admits only the jobs of listed projects.',
    params: IdentifyJobTokenScope,
    answers: one(jobTokenScope),
  })
  read({ within }: Call<IdentifyJobTokenScope, ProjectScope>): { readonly isLimited: boolean } {
    return { isLimited: within.jobAdmission?.all !== true };
  }

  @Endpoint('PATCH', SCOPE, {
    ...manages,
    about: 'Admits the jobs of listed projects only, or of all projects.',
    params: UpdateJobTokenScope,
    answers: noContent(),
  })
  update({ within, params }: Call<UpdateJobTokenScope, ProjectScope>): Promise<void> {
    return this.admission.setAll(within.id, !params.enabled);
  }

  @Endpoint('GET', `${SCOPE}/allowlist`, {
    ...manages,
    about: 'Lists the projects whose jobs a project admits, itself included.',
    params: IdentifyJobTokenScope,
    answers: page(project),
  })
  listProjects({ viewer, within, page }: Call<IdentifyJobTokenScope, ProjectScope>): Promise<Page<ProjectRow>> {
    const ids = [within.id, ...(within.jobAdmission?.projects ?? [])];
    const filters = { order_by: 'id', sort: 'asc', simple: true } as const;
    return this.projects.list(viewer, filters, page, {
      where: (bind) => `p.id = any(${bind(ids, 'admitted')}::bigint[])`,
    });
  }

  @Endpoint('POST', `${SCOPE}/allowlist`, {
    ...manages,
    about: 'Admits the jobs of another project.',
    params: CreateAdmittedProject,
    answers: created(admittedProject),
    fails: [400, 404],
  })
  async addProject({ viewer, within, params }: Call<CreateAdmittedProject, ProjectScope>) {
    const target = await this.scopes.findProject(params.target_project_id, viewer);
    if (!target) throw new NotFound('target_project_id not found');
    await this.admission.admit(within.id, 'projects', target.id);
    return { source: within.id, target: target.id };
  }

  @Endpoint('DELETE', `${SCOPE}/allowlist/:target_project_id`, {
    ...manages,
    about: 'Removes a project from the list of projects whose jobs are admitted.',
    params: IdentifyAdmittedProject,
    answers: noContent(),
    fails: [400],
  })
  removeProject({ within, params }: Call<IdentifyAdmittedProject, ProjectScope>): Promise<void> {
    return this.admission.remove(within.id, 'projects', params.target_project_id);
  }

  @Endpoint('GET', `${SCOPE}/groups_allowlist`, {
    ...manages,
    about: 'Lists the groups whose jobs a project admits.',
    params: IdentifyJobTokenScope,
    answers: page(groupInScope),
  })
  listGroups({ viewer, within, page }: Call<IdentifyJobTokenScope, ProjectScope>): Promise<Page<GroupReference>> {
    return this.groups.list(viewer, within.jobAdmission?.groups ?? [], page);
  }

  @Endpoint('POST', `${SCOPE}/groups_allowlist`, {
    ...manages,
    about: 'Admits the jobs of the projects of a group.',
    params: CreateAdmittedGroup,
    answers: created(admittedGroup),
    fails: [400, 404],
  })
  async addGroup({ viewer, within, params }: Call<CreateAdmittedGroup, ProjectScope>) {
    const target = await this.scopes.findGroup(params.target_group_id, viewer);
    if (!target) throw new NotFound('target_group_id not found');
    await this.admission.admit(within.id, 'groups', target.id);
    return { source: within.id, target: target.id };
  }

  @Endpoint('DELETE', `${SCOPE}/groups_allowlist/:target_group_id`, {
    ...manages,
    about: 'Removes a group from the list of groups whose jobs are admitted.',
    params: IdentifyAdmittedGroup,
    answers: noContent(),
    fails: [400],
  })
  removeGroup({ within, params }: Call<IdentifyAdmittedGroup, ProjectScope>): Promise<void> {
    return this.admission.remove(within.id, 'groups', params.target_group_id);
  }
}
