import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { DirectoryUserRow } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { MergeRequest } from '../merge-request.entity';
import { mergeRequestKind } from '../merge-request.kind';
import { ApprovalRulesQueries } from './approval-rules.queries';
import type { ApprovalRuleView } from './approval-rules.queries';
import { ApprovalsService } from './approvals.service';

/** Approvals of a merge request as a viewer sees them. */
export interface ApprovalsView {
  readonly mergeRequest: MergeRequest;
  readonly approvals: readonly { readonly user: DirectoryUserRow; readonly approvedAt: Date }[];
  /** Rules with the approvals that count for each. */
  readonly rules: readonly ApprovalRuleView[];
  readonly hasApproved: boolean;
  readonly canApprove: boolean;
  readonly hasPaidPlan: boolean;
}

const approvalsOf = statement<{ id: number }, { readonly user_id: number; readonly approved_at: Date }>(
  'merge_request_approvals_of',
  `select user_id, approved_at from merge_request_approvals where merge_request_id = :id::bigint
   order by approved_at, user_id`,
);

/** Reads approvals of merge requests. Source: reference repositories 8.14. */
@Injectable()
export class ApprovalsQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    private readonly rules: ApprovalRulesQueries,
    private readonly approvals: ApprovalsService,
    private readonly work: Work,
  ) {}

  /** Errors: NotFound, Forbidden. */
  async show(viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<ApprovalsView> {
    const mergeRequest = await this.findMergeRequest(viewer, project, iid);
    const rows = await this.database.run(approvalsOf, { id: mergeRequest.id });
    const users = await this.directory.findUsers(rows.map((row) => row.user_id));
    return {
      mergeRequest,
      approvals: rows.flatMap(({ user_id: id, approved_at: approvedAt }) => {
        const user = users.get(id);
        return user ? [{ user, approvedAt }] : [];
      }),
      rules: await this.rules.ofMergeRequest(viewer, project, mergeRequest.id),
      hasApproved: rows.some((row) => row.user_id === viewer.userId),
      canApprove: await this.approvals.canApprove(viewer, project, mergeRequest),
      hasPaidPlan: project.namespace.plan !== 'free',
    };
  }

  /** Finds a merge request that the viewer may read. Errors: NotFound, Forbidden. */
  async findMergeRequest(viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<MergeRequest> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    const found = await this.work.run((tx) => tx.manager.findOneBy(MergeRequest, { projectId: project.id, iid }));
    if (!found) throw new NotFound();
    return found;
  }
}
