import { Inject, Injectable } from '@nestjs/common';
import { SCOPE_RESOLVER } from '@rookery/api-v4';
import type { GroupScope, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { DirectoryUserRow } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { ApprovalRuleType } from './approval.entity';
import { COUNTED_SQL, HAS_APPROVERS_SQL, OF_MERGE_REQUEST_SQL } from './approval-sql';

interface ApprovalRuleRow {
  readonly id: number;
  readonly name: string;
  readonly rule_type: ApprovalRuleType;
  readonly approvals_required: number;
  readonly source_rule_id: number | null;
  readonly source_required: number | null;
  readonly has_approvers: boolean;
  readonly user_ids: readonly number[];
  readonly group_ids: readonly number[];
  readonly eligible_ids: readonly number[];
  readonly approved_ids: readonly number[];
}

/** A rule with its approvers as a viewer sees them. `approvedBy` are those whose approvals count. */
export interface ApprovalRuleView {
  readonly id: number;
  readonly name: string;
  readonly ruleType: ApprovalRuleType;
  readonly approvalsRequired: number;
  readonly sourceRequired: number | null;
  readonly isValid: boolean;
  readonly users: readonly DirectoryUserRow[];
  readonly groups: readonly GroupScope[];
  readonly hasHiddenGroups: boolean;
  readonly eligible: readonly DirectoryUserRow[];
  readonly approvedBy: readonly DirectoryUserRow[];
}

/** Approvers of a rule that answers list; more count all the same. */
const MOST_ELIGIBLE = 500;
const COLUMNS = `r.id, r.name, r.rule_type, r.approvals_required, r.source_rule_id,
  (select s.approvals_required from approval_rules s where s.id = r.source_rule_id) as source_required,
  ${HAS_APPROVERS_SQL} as has_approvers,
  array(select x.user_id from approval_rule_users x where x.rule_id = r.id order by x.user_id) as user_ids,
  array(select g.group_id from approval_rule_groups g where g.rule_id = r.id order by g.group_id) as group_ids,
  array(select x.user_id from approval_rule_users x where x.rule_id = r.id
    union select m.user_id from approval_rule_groups g
      join directory_memberships m on m.source_type = 'namespace' and m.source_id = g.group_id
        and (m.expires_on is null or m.expires_on > (now() at time zone 'UTC')::date)
      where g.rule_id = r.id
    order by 1 limit ${MOST_ELIGIBLE}) as eligible_ids`;

const ofProject = statement<{ project: number }, ApprovalRuleRow>(
  'approval_rules_of_project',
  `select ${COLUMNS}, '{}'::bigint[] as approved_ids from approval_rules r
   where r.project_id = :project::bigint and coalesce(r.merge_request_id, 0) = 0 order by r.id`,
);
const ofMergeRequest = statement<{ id: number }, ApprovalRuleRow>(
  'approval_rules_of_merge_request',
  `select ${COLUMNS}, ${COUNTED_SQL} as approved_ids from merge_requests i
   join approval_rules r on ${OF_MERGE_REQUEST_SQL} where i.id = :id::bigint order by r.id`,
);

/** Reads rules for approvals. Source: reference repositories 8.14. */
@Injectable()
export class ApprovalRulesQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  /** Rules of a project, the oldest first. */
  async ofProject(viewer: Viewer, project: ProjectScope): Promise<ApprovalRuleView[]> {
    return this.loadRuleViews(viewer, await this.database.run(ofProject, { project: project.id }));
  }

  /** Returns the rules that a merge request must fulfil, the oldest first. The plan `free` has none. */
  async ofMergeRequest(viewer: Viewer, project: ProjectScope, id: number, tx?: Tx): Promise<ApprovalRuleView[]> {
    if (!hasApprovalRulesFeature(project)) return [];
    return this.loadRuleViews(viewer, await (tx ?? this.database).run(ofMergeRequest, { id }));
  }

  private async loadRuleViews(viewer: Viewer, rows: readonly ApprovalRuleRow[]): Promise<ApprovalRuleView[]> {
    const userIds = rows.flatMap((row) => [...row.user_ids, ...row.eligible_ids, ...row.approved_ids].map(Number));
    const users = await this.directory.findUsers([...new Set(userIds)]);
    const groupIds = [...new Set(rows.flatMap((row) => row.group_ids.map(Number)))];
    const groups = new Map<number, GroupScope>();
    for (const id of groupIds) {
      const group = await this.scopes.findGroup(id, viewer, 'copy');
      if (group) groups.set(id, group);
    }
    const people = (ids: readonly number[]) => ids.flatMap((id) => users.get(Number(id)) ?? []);
    const hidesGroups = (row: ApprovalRuleRow): boolean => row.group_ids.some((id) => !groups.has(Number(id)));
    return rows.map((row) => ({
      id: row.id,
      name: row.name,
      ruleType: row.rule_type,
      approvalsRequired: row.approvals_required,
      sourceRequired: row.source_required,
      isValid: row.has_approvers,
      users: people(row.user_ids),
      groups: row.group_ids.flatMap((id) => groups.get(Number(id)) ?? []),
      hasHiddenGroups: hidesGroups(row),
      // Members of a hidden group are hidden too.
      eligible: people(hidesGroups(row) ? row.user_ids : row.eligible_ids),
      approvedBy: people(row.approved_ids),
    }));
  }
}

/** Whether the plan of the project includes rules for approvals. */
export function hasApprovalRulesFeature({ namespace }: ProjectScope): boolean {
  return namespace.plan !== 'free';
}

/** Approvals that a rule lacks. */
export function approvalsLeft(rule: ApprovalRuleView): number {
  return rule.isValid ? Math.max(0, rule.approvalsRequired - rule.approvedBy.length) : 0;
}
