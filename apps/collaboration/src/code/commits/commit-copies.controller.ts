import { Controller } from '@nestjs/common';
import { AlternativeAnswer, created, Endpoint, withAlternative } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { addsCommitsOf } from '../repositories/code.permission';
import { CherryPicksAndReverts } from './cherry-picks-and-reverts';
import type { CommitCopy } from './cherry-picks-and-reverts';
import { CherryPickCommit, RevertCommit } from './commit-copies.dto';
import { commitPresenter } from './commit.presenter';
import type { CommitRow } from './commit.presenter';

const DRY_RUN = { dry_run: 'success' };
const dryRunSchema = { type: 'object', properties: { dry_run: { const: 'success' } }, required: ['dry_run'] };
const writes = {
  ...addsCommitsOf,
  source: 'reference repositories 4.5',
  answers: withAlternative(created(commitPresenter), 200, dryRunSchema),
  fails: [404],
} as const;

type WriteCall<P> = Call<P, ProjectScope, SignedInViewer>;

/** Cherry-picks and reverts of commits. */
@Controller('projects/:id/repository/commits/:sha')
export class CommitCopiesController {
  constructor(private readonly copies: CherryPicksAndReverts) {}

  @Endpoint('POST', 'cherry_pick', {
    ...writes,
    about: 'Applies the change of a commit to a branch.',
    params: CherryPickCommit,
  })
  cherryPick(call: WriteCall<CherryPickCommit>): Promise<CommitRow | AlternativeAnswer> {
    const { message } = call.params;
    return this.copyCommit(call, { action: 'cherry-pick', ...(message === undefined ? {} : { message }) });
  }

  @Endpoint('POST', 'revert', {
    ...writes,
    about: 'Applies the opposite of the change of a commit to a branch.',
    params: RevertCommit,
  })
  revert(call: WriteCall<RevertCommit>): Promise<CommitRow | AlternativeAnswer> {
    return this.copyCommit(call, { action: 'revert' });
  }

  private async copyCommit(
    { params, within, viewer }: WriteCall<RevertCommit>,
    action: Pick<CommitCopy, 'action' | 'message'>,
  ): Promise<CommitRow | AlternativeAnswer> {
    const { sha, branch, dry_run: isDryRun } = params;
    const commit = await this.copies.copyCommit(within, viewer, { sha, branch, isDryRun, ...action });
    if (commit === null) return new AlternativeAnswer(DRY_RUN);
    return { commit, projectPath: within.fullPath, hasTrailers: true };
  }
}
