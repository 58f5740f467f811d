import { Controller } from '@nestjs/common';
import { atLeast, Endpoint, one, project } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { ProtectedBranches } from '../../protected-refs/protected-branches';
import { branchPresenter } from './branch.presenter';
import { IdentifyBranch, ProtectBranch } from './branches.dto';
import { Branches } from './branches';
import type { BranchRow } from './branches';

const ONE = '/projects/:id/repository/branches/:branch';
const common = {
  source: 'reference repositories 6.4',
  within: project(),
  may: atLeast('maintainer'),
  answers: one(branchPresenter),
  fails: [404, 409],
  deprecated: '`/projects/:id/protected_branches`',
} as const;

/** Deprecated routes that protect one branch. Source: reference repositories 6.4. */
@Controller()
export class BranchProtectionController {
  constructor(
    private readonly branches: Branches,
    private readonly rules: ProtectedBranches,
  ) {}

  @Endpoint('PUT', `${ONE}/protect`, {
    ...common,
    about: 'Protects a branch, or changes the rule with its name.',
    params: ProtectBranch,
  })
  async protect({ params, viewer, within }: Call<ProtectBranch, ProjectScope, SignedInViewer>): Promise<BranchRow> {
    const { branch, ...rights } = params;
    const reader = { project: within, viewer };
    await this.branches.findBranch(reader, branch);
    await this.rules.protect({ ...reader, userId: viewer.userId }, branch, rights);
    return this.branches.findBranch(reader, branch);
  }

  @Endpoint('PUT', `${ONE}/unprotect`, {
    ...common,
    about: 'Removes the rule with the name of a branch.',
    params: IdentifyBranch,
  })
  async unprotect({ params, viewer, within }: Call<IdentifyBranch, ProjectScope, SignedInViewer>): Promise<BranchRow> {
    const reader = { project: within, viewer };
    await this.branches.findBranch(reader, params.branch);
    await this.rules.unprotect({ ...reader, userId: viewer.userId }, params.branch);
    return this.branches.findBranch(reader, params.branch);
  }
}
