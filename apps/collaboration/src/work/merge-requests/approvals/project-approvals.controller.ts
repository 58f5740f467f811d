import { Controller } from '@nestjs/common';
import { atLeast, created, Endpoint, NoParams, noContent, one, page, project } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { ApprovalRulesQueries, hasApprovalRulesFeature } from './approval-rules.queries';
import type { ApprovalRuleView } from './approval-rules.queries';
import { ApprovalRulesService } from './approval-rules.service';
import { approvalSettingsOf, changeApprovalSettings } from './approval-settings';
import type { ApprovalSettingsRow } from './approval-settings';
import {
  UpdateApprovalSettings,
  CreateApprovalRule,
  IdentifyApprovalRule,
  toRuleInput,
  UpdateApprovalRule,
} from './approvals.dto';
import { approvalSettingsPresenter, projectRulePresenter } from './approvals.presenter';
import { pageOfRules } from './page-of-rules';

type SignedCall<P> = Call<P, ProjectScope, SignedInViewer>;
const reads = {
  source: 'reference repositories 8.14',
  within: project('id', 'copy'),
  may: atLeast('developer'),
} as const;
const manages = { ...reads, may: atLeast('maintainer') } as const;

/** Rules and settings of a project for approvals. */
@Controller('projects/:id')
export class ProjectApprovalsController {
  constructor(
    private readonly rules: ApprovalRulesService,
    private readonly queries: ApprovalRulesQueries,
    private readonly work: Work,
  ) {}

  @Endpoint('GET', 'approvals', {
    ...reads,
    about: 'Shows the settings of a project for approvals.',
    answers: one(approvalSettingsPresenter),
  })
  settings({ within }: SignedCall<NoParams>): Promise<ApprovalSettingsRow> {
    return this.readApprovalSettings(within);
  }

  @Endpoint('POST', 'approvals', {
    ...manages,
    about: 'Changes the settings of a project for approvals. Needs a paid plan.',
    params: UpdateApprovalSettings,
    answers: created(approvalSettingsPresenter),
  })
  async configure({ params, viewer, within }: SignedCall<UpdateApprovalSettings>): Promise<ApprovalSettingsRow> {
    if (!hasApprovalRulesFeature(within)) throw new Forbidden();
    if (params.approvals_before_merge !== undefined)
      await this.rules.requireApprovals(viewer, within, null, params.approvals_before_merge);
    await this.work.run((tx) =>
      tx.run(changeApprovalSettings, {
        project: within.id,
        resets: params.reset_approvals_on_push ?? null,
        no_overriding: params.disable_overriding_approvers_per_merge_request ?? null,
        by_author: params.merge_requests_author_approval ?? null,
        no_committers: params.merge_requests_disable_committers_approval ?? null,
      }),
    );
    return this.readApprovalSettings(within);
  }

  @Endpoint('GET', 'approval_rules', {
    ...reads,
    about: 'Lists the rules of a project for approvals.',
    answers: page(projectRulePresenter),
  })
  async list({ viewer, within, page: request }: SignedCall<NoParams>): Promise<Page<ApprovalRuleView>> {
    return pageOfRules(request, await this.queries.ofProject(viewer, within));
  }

  @Endpoint('GET', 'approval_rules/:approval_rule_id', {
    ...reads,
    about: 'Shows one rule of a project for approvals.',
    params: IdentifyApprovalRule,
    answers: one(projectRulePresenter),
  })
  show({ params, viewer, within }: SignedCall<IdentifyApprovalRule>): Promise<ApprovalRuleView> {
    return this.findProjectRule(viewer, within, params.approval_rule_id);
  }

  @Endpoint('POST', 'approval_rules', {
    ...manages,
    about: 'Adds a rule for the approval of merge requests. Needs a paid plan.',
    params: CreateApprovalRule,
    answers: created(projectRulePresenter),
    fails: [400],
  })
  async create({ params, viewer, within }: SignedCall<CreateApprovalRule>): Promise<ApprovalRuleView> {
    const place = { iid: null, ruleId: null };
    return this.findProjectRule(viewer, within, await this.rules.saveRule(viewer, within, place, toRuleInput(params)));
  }

  @Endpoint('PUT', 'approval_rules/:approval_rule_id', {
    ...manages,
    about: 'Changes a rule of a project for approvals. Needs a paid plan.',
    params: UpdateApprovalRule,
    answers: one(projectRulePresenter),
    fails: [400],
  })
  async update({ params, viewer, within }: SignedCall<UpdateApprovalRule>): Promise<ApprovalRuleView> {
    const place = { iid: null, ruleId: params.approval_rule_id };
    return this.findProjectRule(viewer, within, await this.rules.saveRule(viewer, within, place, toRuleInput(params)));
  }

  @Endpoint('DELETE', 'approval_rules/:approval_rule_id', {
    ...manages,
    about: 'Removes a rule of a project for approvals. Merge requests with rules of their own keep them.',
    params: IdentifyApprovalRule,
    answers: noContent(),
  })
  async remove({ params, viewer, within }: SignedCall<IdentifyApprovalRule>): Promise<void> {
    await this.rules.remove(viewer, within, null, params.approval_rule_id);
  }

  private async readApprovalSettings({ id }: ProjectScope): Promise<ApprovalSettingsRow> {
    const [row] = await this.work.run((tx) => tx.run(approvalSettingsOf, { project: id }));
    return row!;
  }

  private async findProjectRule(viewer: SignedInViewer, within: ProjectScope, id: number): Promise<ApprovalRuleView> {
    const found = (await this.queries.ofProject(viewer, within)).find((rule) => rule.id === id);
    if (!found) throw new NotFound();
    return found;
  }
}
