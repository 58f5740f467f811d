import { Controller } from '@nestjs/common';
import { created, Endpoint, noContent, one, page, project, signedIn } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import { ApprovalRulesQueries } from './approval-rules.queries';
import type { ApprovalRuleView } from './approval-rules.queries';
import { ApprovalRulesService } from './approval-rules.service';
import {
  CreateMergeRequestApprovalRule,
  IdentifyMergeRequestApprovalRule,
  toRuleInput,
  UpdateMergeRequestApprovalRule,
} from './approvals.dto';
import { mergeRequestRulePresenter } from './approvals.presenter';
import { ApprovalsQueries } from './approvals.queries';
import { pageOfRules } from './page-of-rules';

type SignedCall<P> = Call<P, ProjectScope, SignedInViewer>;
const signed = { source: 'reference repositories 8.14', within: project('id', 'copy'), may: signedIn() } as const;

/** Rules of a merge request for its approval. */
@Controller('projects/:id/merge_requests/:merge_request_iid/approval_rules')
export class MergeRequestApprovalRulesController {
  constructor(
    private readonly rules: ApprovalRulesService,
    private readonly queries: ApprovalRulesQueries,
    private readonly approvals: ApprovalsQueries,
  ) {}

  @Endpoint('GET', '', {
    ...signed,
    about: 'Lists the rules that a merge request must fulfil: its own, or those of the project.',
    params: IdentifyMergeRequest,
    answers: page(mergeRequestRulePresenter),
  })
  async list(call: SignedCall<IdentifyMergeRequest>): Promise<Page<ApprovalRuleView>> {
    return pageOfRules(call.page, await this.readRules(call));
  }

  @Endpoint('GET', ':approval_rule_id', {
    ...signed,
    about: 'Shows one rule of a merge request.',
    params: IdentifyMergeRequestApprovalRule,
    answers: one(mergeRequestRulePresenter),
  })
  async show(call: SignedCall<IdentifyMergeRequestApprovalRule>): Promise<ApprovalRuleView> {
    return this.findRule(call, call.params.approval_rule_id);
  }

  @Endpoint('POST', '', {
    ...signed,
    about: 'Adds a rule to a merge request, which has rules of its own from then on.',
    params: CreateMergeRequestApprovalRule,
    answers: created(mergeRequestRulePresenter),
    fails: [400],
  })
  async create(call: SignedCall<CreateMergeRequestApprovalRule>): Promise<ApprovalRuleView> {
    const { viewer, within, params } = call;
    const place = { iid: params.merge_request_iid, ruleId: null };
    return this.findRule(call, await this.rules.saveRule(viewer, within, place, toRuleInput(params)));
  }

  @Endpoint('PUT', ':approval_rule_id', {
    ...signed,
    about: 'Changes a rule of a merge request. A rule of the project is copied before.',
    params: UpdateMergeRequestApprovalRule,
    answers: one(mergeRequestRulePresenter),
    fails: [400],
  })
  async update(call: SignedCall<UpdateMergeRequestApprovalRule>): Promise<ApprovalRuleView> {
    const { viewer, within, params } = call;
    const place = { iid: params.merge_request_iid, ruleId: params.approval_rule_id };
    return this.findRule(call, await this.rules.saveRule(viewer, within, place, toRuleInput(params)));
  }

  @Endpoint('DELETE', ':approval_rule_id', {
    ...signed,
    about: 'Removes a rule from a merge request.',
    params: IdentifyMergeRequestApprovalRule,
    answers: noContent(),
  })
  async remove({ params, viewer, within }: SignedCall<IdentifyMergeRequestApprovalRule>): Promise<void> {
    await this.rules.remove(viewer, within, params.merge_request_iid, params.approval_rule_id);
  }

  private async readRules({ params, viewer, within }: SignedCall<IdentifyMergeRequest>): Promise<ApprovalRuleView[]> {
    const { id } = await this.approvals.findMergeRequest(viewer, within, params.merge_request_iid);
    return this.queries.ofMergeRequest(viewer, within, id);
  }

  private async findRule(call: SignedCall<IdentifyMergeRequest>, id: number): Promise<ApprovalRuleView> {
    const found = (await this.readRules(call)).find((rule) => rule.id === id);
    if (!found) throw new NotFound();
    return found;
  }
}
