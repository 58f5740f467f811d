import { Inject, Injectable } from '@nestjs/common';
import { SCOPE_RESOLVER } from '@rookery/api-v4';
import type { ProjectScope, ScopeResolver } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Forbidden, Invalid, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, violatesConstraint, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { AssignedPeopleService } from '../../../planning/people/people';
import { emitMergeRequestApprovalRequested } from '../merge-request-events';
import { MergeRequest } from '../merge-request.entity';
import { mergeRequestPolicy } from '../merge-request.policy';
import { MergeRequestsService } from '../merge-requests.service';
import { ApprovalRule } from './approval.entity';
import type { ApprovalRuleType } from './approval.entity';
import { hasApprovalRulesFeature } from './approval-rules.queries';
import { approvalSettingsOf } from './approval-settings';

/** Fields of a rule. Undefined fields keep their values. Users and groups that the caller may not name are dropped. */
export interface ApprovalRuleInput {
  readonly name?: string | undefined;
  readonly ruleType?: ApprovalRuleType | undefined;
  readonly approvalsRequired?: number | undefined;
  readonly userIds?: readonly number[] | undefined;
  readonly usernames?: readonly string[] | undefined;
  readonly groupIds?: readonly number[] | undefined;
}

/** Rules of one project or merge request. */
const MOST_RULES = 100;

const setUsers = statement<{ rule: number; users: readonly number[] }, { readonly user_id: number }>(
  'approval_rules_set_users',
  `with gone as (
     delete from approval_rule_users where rule_id = :rule::bigint and user_id <> all(:users::bigint[])
   )
   insert into approval_rule_users (rule_id, user_id) select :rule::bigint, u from unnest(:users::bigint[]) u
   on conflict do nothing returning user_id`,
);
const setGroups = statement<{ rule: number; groups: readonly number[] }, never>(
  'approval_rules_set_groups',
  `with gone as (
     delete from approval_rule_groups where rule_id = :rule::bigint and group_id <> all(:groups::bigint[])
   )
   insert into approval_rule_groups (rule_id, group_id) select :rule::bigint, g from unnest(:groups::bigint[]) g
   on conflict do nothing`,
);
/** Copies the rules of the project to a merge request that follows them, which has rules of its own from then on. */
const copyProjectRules = statement<{ id: number }, never>(
  'approval_rules_overwrite',
  `with target as (
     update merge_requests set approval_rules_overwritten = true
     where id = :id::bigint and not approval_rules_overwritten returning id, project_id
   ), copied as (
     insert into approval_rules (project_id, merge_request_id, source_rule_id, name, rule_type, approvals_required)
     select r.project_id, target.id, r.id, r.name, r.rule_type, r.approvals_required
     from target join approval_rules r on r.project_id = target.project_id and coalesce(r.merge_request_id, 0) = 0
     order by r.id returning id, source_rule_id
   ), users as (
     insert into approval_rule_users (rule_id, user_id)
     select c.id, u.user_id from copied c join approval_rule_users u on u.rule_id = c.source_rule_id
   )
   insert into approval_rule_groups (rule_id, group_id)
   select c.id, g.group_id from copied c join approval_rule_groups g on g.rule_id = c.source_rule_id`,
);
const countRules = statement<{ project: number; merge_request: number }, { readonly rules: number }>(
  'approval_rules_count',
  `select count(*)::integer as rules from approval_rules
   where project_id = :project::bigint and coalesce(merge_request_id, 0) = :merge_request::bigint`,
);
/** A rule of a place by its id, or by that of the rule of the project from which it was copied. */
const findRule = statement<{ project: number; merge_request: number; rule: number }, { readonly id: number }>(
  'approval_rules_find',
  `select id from approval_rules where project_id = :project::bigint
     and coalesce(merge_request_id, 0) = :merge_request::bigint and :rule::bigint in (id, source_rule_id)
   order by (id = :rule::bigint) desc limit 1 for update`,
);

type RuleParent = { readonly projectId: number; readonly mergeRequest: MergeRequest | null };

/**
 * Writes rules for approvals. The first write to the rules of a merge request copies those of its project, and detaches
 * it from them. Source: reference repositories 8.14.
 */
@Injectable()
export class ApprovalRulesService {
  constructor(
    private readonly work: Work,
    private readonly mergeRequests: MergeRequestsService,
    private readonly people: AssignedPeopleService,
    private readonly directory: Directory,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  /**
   * Creates or changes a rule. `iid` is null for a rule of the project, `ruleId` is null for a new rule. Returns its
   * id.
   */
  async saveRule(
    viewer: SignedInViewer,
    project: ProjectScope,
    { iid, ruleId }: { readonly iid: number | null; readonly ruleId: number | null },
    input: ApprovalRuleInput,
  ): Promise<number> {
    const people = await this.findApprovers(viewer, project, input);
    return this.mapConstraintErrors(iid !== null, () =>
      this.runRuleWrite(viewer, project, iid, async (tx, place, at) => {
        const rule = ruleId === null ? await buildRule(tx, place) : await loadRule(tx, place, ruleId);
        if (input.name !== undefined) rule.name = input.name;
        if (ruleId === null && input.ruleType !== undefined) rule.ruleType = input.ruleType;
        if (input.approvalsRequired !== undefined) rule.approvalsRequired = input.approvalsRequired;
        const { id, ruleType } = await tx.manager.save(ApprovalRule, rule);
        if (ruleType === 'any_approver') return id;
        const named = people.users && (await tx.run(setUsers, { rule: id, users: people.users }));
        if (people.groups) await tx.run(setGroups, { rule: id, groups: people.groups });
        if (place.mergeRequest && named) {
          const approvers = named.map(({ user_id }) => user_id);
          const by = { actorId: viewer.userId, seen: viewer.directory };
          emitMergeRequestApprovalRequested(tx, by, place.mergeRequest, approvers, at);
        }
        return id;
      }),
    );
  }

  /** Removes a rule. Errors: NotFound, Forbidden. */
  async remove(viewer: SignedInViewer, project: ProjectScope, iid: number | null, ruleId: number): Promise<void> {
    await this.runRuleWrite(viewer, project, iid, async (tx, place) => {
      const { id } = await loadRule(tx, place, ruleId);
      await tx.manager.delete(ApprovalRule, id);
    });
  }

  /** Sets the number of approvals by any approver, with a rule for it. `iid` is null for the project. */
  async requireApprovals(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number | null,
    approvals: number,
  ): Promise<void> {
    await this.runRuleWrite(viewer, project, iid, async (tx, place) => {
      const where = { projectId: place.projectId, ruleType: 'any_approver' as const };
      const rules = await tx.manager.find(ApprovalRule, { where });
      const found = rules.find((rule) => rule.mergeRequestId === (place.mergeRequest?.id ?? null));
      const rule = found ?? (await buildRule(tx, place));
      Object.assign(rule, { approvalsRequired: approvals });
      if (!found) Object.assign(rule, { name: 'All Members', ruleType: 'any_approver' });
      await tx.manager.save(ApprovalRule, rule);
    });
  }

  /** Runs a write to the rules of a project or merge request. Errors: NotFound, Forbidden. */
  private async runRuleWrite<T>(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number | null,
    step: (tx: Tx, place: RuleParent, at: Date) => Promise<T>,
  ): Promise<T> {
    return this.work.run(async (tx) => {
      if (!hasApprovalRulesFeature(project)) throw new Forbidden();
      if (iid === null) {
        const [now] = await tx.query<{ at: Date }>('select now() as at');
        return step(tx, { projectId: project.id, mergeRequest: null }, now!.at);
      }
      const { mergeRequest, at } = await this.mergeRequests.lockMergeRequest(tx, viewer, project, iid);
      if (!mergeRequestPolicy.mayEdit(viewer, project, mergeRequest)) throw new Forbidden();
      const [settings] = await tx.run(approvalSettingsOf, { project: project.id });
      if (settings!.disable_overriding_approvers_per_merge_request) throw new Forbidden();
      await tx.run(copyProjectRules, { id: mergeRequest.id });
      return step(tx, { projectId: project.id, mergeRequest }, at);
    });
  }

  private async findApprovers(
    viewer: SignedInViewer,
    project: ProjectScope,
    { userIds, usernames, groupIds }: ApprovalRuleInput,
  ): Promise<{ readonly users: number[] | undefined; readonly groups: number[] | undefined }> {
    const named = usernames && [...(await this.directory.usersByUsername([...usernames])).values()];
    const requested = userIds || named ? [...(userIds ?? []), ...(named ?? []).map(({ id }) => id)] : undefined;
    const users = requested && (await this.people.filterEligible(viewer, project, requested));
    const groups: number[] = [];
    for (const id of new Set(groupIds)) if (await this.scopes.findGroup(id, viewer, 'copy')) groups.push(id);
    return { users: users?.map(({ id }) => id), groups: groupIds && groups };
  }

  private async mapConstraintErrors<T>(isOfMergeRequest: boolean, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (violatesConstraint(error, 'uq_approval_rules_name')) throw new Invalid({ name: ['has already been taken'] });
      if (!violatesConstraint(error, 'uq_approval_rules_any_approver')) throw error;
      const place = isOfMergeRequest ? 'merge request' : 'project';
      throw new Invalid({ rule_type: [`any-approver for the ${place} already exists`] });
    }
  }
}

/** Builds a rule that is not stored yet. Errors: Invalid if there are too many rules. */
async function buildRule(tx: Tx, { projectId, mergeRequest }: RuleParent): Promise<ApprovalRule> {
  const place = { project: projectId, merge_request: mergeRequest?.id ?? 0 };
  const [counted] = await tx.run(countRules, place);
  if (counted!.rules >= MOST_RULES) throw new Invalid({ base: [`at most ${MOST_RULES} approval rules are allowed`] });
  return tx.manager.create(ApprovalRule, { projectId, mergeRequestId: mergeRequest?.id ?? null });
}

/** Loads a stored rule. Errors: NotFound. */
async function loadRule(tx: Tx, { projectId, mergeRequest }: RuleParent, rule: number): Promise<ApprovalRule> {
  const [found] = await tx.run(findRule, { project: projectId, merge_request: mergeRequest?.id ?? 0, rule });
  if (!found) throw new NotFound();
  return tx.manager.findOneByOrFail(ApprovalRule, { id: found.id });
}
