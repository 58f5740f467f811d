import { Controller } from '@nestjs/common';
import { accepted, atLeast, created, Endpoint, one, project, signedIn } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { PublishDraftNotesService } from '../drafts/publish-drafts.service';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import { ApprovalRulesService } from './approval-rules.service';
import { ApproveMergeRequest, SetRequiredApprovals } from './approvals.dto';
import { approvalsPresenter, approvalStatePresenter } from './approvals.presenter';
import { ApprovalsQueries } from './approvals.queries';
import type { ApprovalsView } from './approvals.queries';
import { ApprovalsService } from './approvals.service';

type SignedCall<P> = Call<P, ProjectScope, SignedInViewer>;
const inProject = { source: 'reference repositories 8.14', within: project('id', 'copy') } as const;
const signed = { ...inProject, may: signedIn() } as const;

/** Approvals of merge requests. */
@Controller('projects/:id/merge_requests/:merge_request_iid')
export class ApprovalsController {
  constructor(
    private readonly approvals: ApprovalsService,
    private readonly queries: ApprovalsQueries,
    private readonly rules: ApprovalRulesService,
    private readonly drafts: PublishDraftNotesService,
  ) {}

  @Endpoint('GET', 'approvals', {
    ...signed,
    about: 'Shows the approvals of a merge request, and how many it lacks.',
    params: IdentifyMergeRequest,
    answers: one(approvalsPresenter),
  })
  show({ params, viewer, within }: SignedCall<IdentifyMergeRequest>): Promise<ApprovalsView> {
    return this.queries.show(viewer, within, params.merge_request_iid);
  }

  @Endpoint('POST', 'approvals', {
    ...inProject,
    may: atLeast('maintainer'),
    about: 'Sets how many approvals the merge request needs, from any approvers.',
    params: SetRequiredApprovals,
    answers: created(approvalsPresenter),
  })
  async require({ params, viewer, within }: SignedCall<SetRequiredApprovals>): Promise<ApprovalsView> {
    const { merge_request_iid: iid, approvals_required: required } = params;
    await this.rules.requireApprovals(viewer, within, iid, required);
    return this.queries.show(viewer, within, iid);
  }

  @Endpoint('GET', 'approval_state', {
    ...signed,
    about: 'Shows the rules for the approval of a merge request, with the approvals that count for each.',
    params: IdentifyMergeRequest,
    answers: one(approvalStatePresenter),
  })
  state({ params, viewer, within }: SignedCall<IdentifyMergeRequest>): Promise<ApprovalsView> {
    return this.queries.show(viewer, within, params.merge_request_iid);
  }

  @Endpoint('POST', 'approve', {
    ...signed,
    about: 'Approves a merge request.',
    params: ApproveMergeRequest,
    answers: created(approvalsPresenter),
    fails: [409, 429],
  })
  async approve({ params, viewer, within }: SignedCall<ApproveMergeRequest>): Promise<ApprovalsView> {
    const { merge_request_iid: iid, sha, publish_review: isPublishing } = params;
    await this.approvals.approve(viewer, within, iid, sha || null);
    if (isPublishing) await this.drafts.publishAll(viewer, within, iid);
    return this.queries.show(viewer, within, iid);
  }

  @Endpoint('POST', 'unapprove', {
    ...signed,
    about: 'Withdraws the approval of the caller.',
    params: IdentifyMergeRequest,
    answers: created(approvalsPresenter),
  })
  async unapprove({ params, viewer, within }: SignedCall<IdentifyMergeRequest>): Promise<ApprovalsView> {
    await this.approvals.unapprove(viewer, within, params.merge_request_iid);
    return this.queries.show(viewer, within, params.merge_request_iid);
  }

  @Endpoint('PUT', 'reset_approvals', {
    ...signed,
    about: 'Withdraws all approvals. Only for bots of project and group tokens.',
    params: IdentifyMergeRequest,
    answers: accepted(),
  })
  async reset({ params, viewer, within }: SignedCall<IdentifyMergeRequest>): Promise<void> {
    await this.approvals.resetApprovals(viewer, within, params.merge_request_iid);
  }
}
