import { Controller, Inject } from '@nestjs/common';
import {
  actorAndParent,
  atLeast,
  created,
  Endpoint,
  actorParentAndPrecondition,
  noContent,
  one,
  page,
  project,
} from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { Clock, Page } from '@rookery/kernel';
import { CLOCK, Conflict, NotFound } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Collection } from '@rookery/persistence';
import { ProtectedBranch } from './protected-branch.entity';
import { checkUnprotect, protectedBranches } from './protected-branches';
import type { RuleFilters } from './protected-branches';
import {
  CreateProtectedBranch,
  ListProtectedRefs,
  IdentifyProtectedRef,
  UpdateProtectedBranch,
} from './protected-refs.dto';
import { protectedBranchPresenter } from './protected-refs.presenter';

const ALL = '/projects/:id/protected_branches';
const ONE = `${ALL}/:name`;
const reads = { source: 'reference repositories 6.2', within: project(), may: atLeast('developer') } as const;
const manages = { ...reads, may: atLeast('maintainer') } as const;

/** Rules for branches. Source: reference repositories 6.2. */
@Controller()
export class ProtectedBranchesController {
  private readonly branches: Collection<ProtectedBranch, RuleFilters>;

  constructor(
    work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.branches = protectedBranches.on(work);
  }

  @Endpoint('GET', ALL, {
    ...reads,
    about: 'Rules of a project for branches.',
    params: ListProtectedRefs,
    answers: page(protectedBranchPresenter),
  })
  list({ params, within, page: request }: Call<ListProtectedRefs, ProjectScope>): Promise<Page<ProtectedBranch>> {
    return this.branches.list({ page: request, within: within.id, filters: params });
  }

  @Endpoint('GET', ONE, {
    ...reads,
    about: 'The rule with exactly this name.',
    params: IdentifyProtectedRef,
    answers: one(protectedBranchPresenter),
    fails: [404],
  })
  show({ params, within }: Call<IdentifyProtectedRef, ProjectScope>): Promise<ProtectedBranch> {
    return this.findByName(within, params.name);
  }

  @Endpoint('POST', ALL, {
    ...manages,
    about: 'Protects a branch, or all branches whose name fits.',
    params: CreateProtectedBranch,
    answers: created(protectedBranchPresenter),
    fails: [409, 422],
  })
  async create(call: Call<CreateProtectedBranch, ProjectScope>): Promise<ProtectedBranch> {
    const { code_owner_approval_required: _, ...input } = call.params;
    const { within } = call;
    const taken = await this.branches.listAll({ within: within.id, where: { name: input.name } });
    if (taken.length > 0) throw new Conflict(`Protected branch '${input.name}' already exists`);
    return this.branches.create(ProtectedBranch.create(within.id, input, this.clock.now()), actorAndParent(call));
  }

  @Endpoint('PATCH', ONE, {
    ...manages,
    about: 'Changes the fields of a rule that are sent.',
    params: UpdateProtectedBranch,
    answers: one(protectedBranchPresenter),
    fails: [404, 422],
  })
  async update(call: Call<UpdateProtectedBranch, ProjectScope>): Promise<ProtectedBranch> {
    const { name, code_owner_approval_required: _, ...input } = call.params;
    const { id } = await this.findByName(call.within, name);
    return this.branches.change(id, (rule) => rule.change(input, this.clock.now()), actorAndParent(call));
  }

  @Endpoint('DELETE', ONE, {
    ...manages,
    about: 'Removes a rule. The branches remain.',
    params: IdentifyProtectedRef,
    answers: noContent(),
    fails: [404, 412],
  })
  async remove(call: Call<IdentifyProtectedRef, ProjectScope>): Promise<void> {
    const { params, viewer, within } = call;
    const { id } = await this.findByName(within, params.name);
    const check = (rule: ProtectedBranch) => Promise.resolve(checkUnprotect(rule, { viewer, project: within }));
    await this.branches.remove(id, actorParentAndPrecondition(call), check);
  }

  private async findByName({ id }: ProjectScope, name: string): Promise<ProtectedBranch> {
    const [rule] = await this.branches.listAll({ within: id, where: { name } });
    if (!rule) throw new NotFound();
    return rule;
  }
}
