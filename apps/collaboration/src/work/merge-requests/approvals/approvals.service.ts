import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { listCommits } from '@rookery/git';
import type { ObjectId } from '@rookery/git';
import { ACCESS_LEVELS, Forbidden, NotFound, Unauthorized } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { CommitIdentities } from '../../../code/repositories/commit-identities';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { emitMergeRequestApproval } from '../merge-request-events';
import { MergeRequest } from '../merge-request.entity';
import { mergeRequestKind } from '../merge-request.kind';
import { MergeRequestsService } from '../merge-requests.service';
import { createStaleHeadConflict } from '../merging/merge-checks';
import { approvalSettingsOf } from './approval-settings';
import { resetApprovals } from './reset-approvals';

/** Own commits of a source branch whose committers may not approve. */
const MAX_COMMITS = 1000;

const insertApproval = statement<{ id: number; user: number; at: Date }, { readonly user_id: number }>(
  'merge_request_approvals_insert',
  `with approved as (
     insert into merge_request_approvals (merge_request_id, user_id, approved_at)
     values (:id::bigint, :user::bigint, :at::timestamptz) on conflict do nothing returning user_id
   ), reviewed as (
     update merge_request_reviewers r set state = 'approved' from approved
     where r.merge_request_id = :id::bigint and r.user_id = approved.user_id
   )
   select user_id from approved`,
);
const deleteApproval = statement<{ id: number; user: number }, { readonly user_id: number }>(
  'merge_request_approvals_remove',
  `with gone as (
     delete from merge_request_approvals where merge_request_id = :id::bigint and user_id = :user::bigint
     returning user_id
   ), reviewed as (
     update merge_request_reviewers r set state = 'unapproved' from gone
     where r.merge_request_id = :id::bigint and r.user_id = gone.user_id
   )
   select user_id from gone`,
);
const findApproval = statement<{ id: number; user: number }, never>(
  'merge_request_approvals_exists',
  'select 1 from merge_request_approvals where merge_request_id = :id::bigint and user_id = :user::bigint',
);

/** Approves merge requests, and withdraws approvals. Source: reference repositories 8.14. */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly work: Work,
    private readonly mergeRequests: MergeRequestsService,
    private readonly repositories: ProjectRepositories,
    private readonly identities: CommitIdentities,
    private readonly directory: Directory,
  ) {}

  /**
   * Approves a merge request. `sha` is the head that the caller knows. Errors, in this order: NotFound, Forbidden,
   * Conflict for another head, Unauthorized if the caller cannot approve it now.
   */
  async approve(viewer: SignedInViewer, project: ProjectScope, iid: number, sha: string | null): Promise<void> {
    const head = await this.checkApproval(viewer, project, iid, sha);
    await this.work.run((tx) => this.approveInTransaction(tx, viewer, project, iid, head));
  }

  /** Returns the head that the viewer may approve now. Errors: those of `approve`. */
  async checkApproval(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    sha: string | null,
  ): Promise<string | null> {
    const before = await this.work.run((tx) => this.mergeRequests.lockMergeRequest(tx, viewer, project, iid));
    if (!mayApproveMergeRequests(viewer, project)) throw new Forbidden();
    if (sha !== null && sha !== before.mergeRequest.headSha)
      throw createStaleHeadConflict(before.mergeRequest.headSha as ObjectId);
    if (!(await this.canApprove(viewer, project, before.mergeRequest))) throw new Unauthorized();
    return before.mergeRequest.headSha;
  }

  /**
   * Approves in a given transaction. `head` is the result of `checkApproval`; null stands for a missing head, and is
   * compared too. Errors: Unauthorized if the head or the state has changed since the check.
   */
  async approveInTransaction(
    tx: Tx,
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    head: string | null,
  ): Promise<void> {
    const { mergeRequest, at } = await this.mergeRequests.lockMergeRequest(tx, viewer, project, iid);
    if (mergeRequest.headSha !== head || mergeRequest.state !== 'opened') throw new Unauthorized();
    const approved = await tx.run(insertApproval, { id: mergeRequest.id, user: viewer.userId, at });
    if (approved.length === 0) throw new Unauthorized();
    await recordApprovalChange(tx, viewer, mergeRequest, 'approved', at);
  }

  /** Withdraws the caller's approval. Errors: NotFound, also without an approval; Forbidden. */
  async unapprove(viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<void> {
    await this.work.run((tx) => this.unapproveInTransaction(tx, viewer, project, iid));
  }

  /** Withdraws the caller's approval in a given transaction. Errors: those of `unapprove`. */
  async unapproveInTransaction(tx: Tx, viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<void> {
    const { mergeRequest, at } = await this.mergeRequests.lockMergeRequest(tx, viewer, project, iid);
    if (!mayApproveMergeRequests(viewer, project)) throw new Forbidden();
    const gone = await tx.run(deleteApproval, { id: mergeRequest.id, user: viewer.userId });
    if (gone.length === 0) throw new NotFound();
    await recordApprovalChange(tx, viewer, mergeRequest, 'unapproved', at);
  }

  /** Withdraws all approvals. Errors: NotFound, Forbidden; Unauthorized unless the caller is the bot of a token. */
  async resetApprovals(viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<void> {
    await this.work.run(async (tx) => {
      const { mergeRequest } = await this.mergeRequests.lockMergeRequest(tx, viewer, project, iid);
      if (!viewer.isBot || !mayApproveMergeRequests(viewer, project)) throw new Unauthorized();
      await tx.run(resetApprovals, { id: mergeRequest.id, only_if_set: false });
    });
  }

  /** Whether the viewer could approve the merge request now. */
  async canApprove(viewer: SignedInViewer, project: ProjectScope, mergeRequest: MergeRequest): Promise<boolean> {
    if (mergeRequest.state !== 'opened' || !mayApproveMergeRequests(viewer, project)) return false;
    const [approved, [settings]] = await this.work.run(async (tx) => [
      await tx.run(findApproval, { id: mergeRequest.id, user: viewer.userId }),
      await tx.run(approvalSettingsOf, { project: project.id }),
    ]);
    if (approved.length > 0) return false;
    if (!settings!.merge_requests_author_approval && mergeRequest.authorId === viewer.userId) return false;
    return (
      !settings!.merge_requests_disable_committers_approval || !(await this.hasCommitted(viewer, project, mergeRequest))
    );
  }

  /** Whether a commit of the merge request has an address of the viewer. */
  private async hasCommitted(viewer: SignedInViewer, project: ProjectScope, row: MergeRequest): Promise<boolean> {
    const [head, base] = [row.headSha as ObjectId | null, row.baseSha as ObjectId | null];
    if (head === null) return false;
    const user = (await this.directory.findUsers([viewer.userId])).get(viewer.userId);
    const { email } = await this.identities.findIdentity(viewer);
    const own = [email, user?.publicEmail, user?.notificationEmail].map((address) => address?.toLowerCase());
    const selection = { from: [head], notFrom: base === null ? [] : [base], skip: 0, max: MAX_COMMITS };
    return this.repositories.useRepository(project, async (repository) => {
      const commits = await listCommits(repository, selection);
      const addresses = commits.flatMap(({ author, committer }) => [author.email, committer.email]);
      return addresses.some((address) => own.includes(address.toLowerCase()));
    });
  }
}

function mayApproveMergeRequests(viewer: SignedInViewer, project: ProjectScope): boolean {
  return !project.archived && (viewer.isAdmin || project.level >= ACCESS_LEVELS.developer);
}

async function recordApprovalChange(
  tx: Tx,
  viewer: SignedInViewer,
  mergeRequest: MergeRequest,
  verb: 'approved' | 'unapproved',
  at: Date,
): Promise<void> {
  const { id, projectId } = mergeRequest;
  await tx.manager.update(MergeRequest, id, { updatedAt: at });
  const note = { noteableId: id, projectId, actorId: viewer.userId, bodies: [systemNotes[verb]], at };
  await writeSystemNotes(tx, mergeRequestKind, note);
  emitMergeRequestApproval(tx, { actorId: viewer.userId, seen: viewer.directory }, mergeRequest, verb, at);
}
