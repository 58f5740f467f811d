import { Controller } from '@nestjs/common';
import {
  accepted,
  AlternativeAnswer,
  checkUnmodifiedSince,
  created,
  Endpoint,
  noContent,
  one,
  orNoContent,
  page,
} from '@rookery/api-v4';
import type { Call, NoParams, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { readsHistoryOf, writesCodeOf } from '../../repositories/code.permission';
import type { RefPage } from '../listing/ref-page';
import { branchPresenter } from './branch.presenter';
import { BranchChanges } from './branch-changes';
import { CreateBranch, ListBranches, IdentifyBranch } from './branches.dto';
import { Branches } from './branches';
import { MergedBranches } from './merged-branches';
import type { BranchRow } from './branches';

const ALL = '/projects/:id/repository/branches';
const ONE = `${ALL}/:branch`;
const reads = { ...readsHistoryOf, source: 'reference repositories 5.1', tokenScopes: ['read_repository'] } as const;
const writes = { ...writesCodeOf, source: 'reference repositories 5.3' } as const;

/** Branches of a repository. Source: reference repositories 5.1. */
@Controller()
export class BranchesController {
  constructor(
    private readonly branches: Branches,
    private readonly changes: BranchChanges,
    private readonly merged: MergedBranches,
  ) {}

  @Endpoint('GET', ALL, {
    ...reads,
    about: 'Branches of a repository.',
    params: ListBranches,
    answers: page(branchPresenter),
    fails: [422],
  })
  list({ params, viewer, within, page: request }: Call<ListBranches, ProjectScope>): Promise<RefPage<BranchRow>> {
    return this.branches.list({ project: within, viewer }, params, request);
  }

  @Endpoint('GET', ONE, {
    ...reads,
    about: 'One branch. `HEAD` answers 204 if it exists.',
    params: IdentifyBranch,
    answers: orNoContent(one(branchPresenter)),
    fails: [404],
  })
  async show({
    params,
    viewer,
    within,
    isHead,
  }: Call<IdentifyBranch, ProjectScope>): Promise<BranchRow | AlternativeAnswer> {
    const branch = await this.branches.findBranch({ project: within, viewer }, params.branch);
    return isHead ? new AlternativeAnswer(null) : branch;
  }

  @Endpoint('POST', ALL, {
    ...writes,
    about: 'Creates a branch.',
    params: CreateBranch,
    answers: created(branchPresenter),
  })
  create({ params, viewer, within }: Call<CreateBranch, ProjectScope, SignedInViewer>): Promise<BranchRow> {
    return this.changes.create({ project: within, viewer }, params);
  }

  @Endpoint('DELETE', ONE, {
    ...writes,
    about: 'Deletes a branch.',
    params: IdentifyBranch,
    answers: noContent(),
    fails: [404, 412],
  })
  async remove(call: Call<IdentifyBranch, ProjectScope, SignedInViewer>): Promise<void> {
    const { params, viewer, within } = call;
    const check = (updatedAt: Date): void => checkUnmodifiedSince(call, updatedAt);
    await this.changes.remove({ project: within, viewer }, params.branch, check);
  }

  @Endpoint('DELETE', '/projects/:id/repository/merged_branches', {
    ...writes,
    about: 'Deletes branches that the default branch contains.',
    answers: accepted(),
  })
  async removeMerged({ viewer, within }: Call<NoParams, ProjectScope, SignedInViewer>): Promise<void> {
    await this.merged.removeMerged({ project: within, viewer });
  }
}
