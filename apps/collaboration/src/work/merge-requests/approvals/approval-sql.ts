/** Boolean SQL over a rule `r`: the user may give an approval that counts for it. `user` is a column or value. */
function isEligibleApproverSql(user: string): string {
  return `(r.rule_type = 'any_approver'
    or exists (select 1 from approval_rule_users x where x.rule_id = r.id and x.user_id = ${user})
    or exists (select 1 from approval_rule_groups g
      join directory_memberships m on m.source_type = 'namespace' and m.source_id = g.group_id and m.user_id = ${user}
        and (m.expires_on is null or m.expires_on > (now() at time zone 'UTC')::date)
      where g.rule_id = r.id))`;
}

/** Subquery over a rule `r`: ids of the users whom it names and of the direct members of the groups that it names. An id may occur twice. */
export const NAMED_APPROVER_SQL = `(select x.user_id from approval_rule_users x where x.rule_id = r.id
  union all select m.user_id from approval_rule_groups g
    join directory_memberships m on m.source_type = 'namespace' and m.source_id = g.group_id
      and (m.expires_on is null or m.expires_on > (now() at time zone 'UTC')::date)
    where g.rule_id = r.id)`;

/** Boolean SQL over a rule `r`: at least one user can give an approval that counts for it. */
export const HAS_APPROVERS_SQL = `(r.rule_type = 'any_approver' or exists ${NAMED_APPROVER_SQL})`;

/** SQL over `i` and a rule `r`: ids of the users whose approvals count for the rule, a bigint[]. */
export const COUNTED_SQL = `array(select a.user_id from merge_request_approvals a
  where a.merge_request_id = i.id and ${isEligibleApproverSql('a.user_id')} order by a.approved_at, a.user_id)`;

/** Condition on a rule `r`: it is one of the rules of the merge request `i`: its own, or those of the project. */
export const OF_MERGE_REQUEST_SQL = `r.project_id = i.project_id
  and coalesce(r.merge_request_id, 0) = case when i.approval_rules_overwritten then i.id else 0 end`;

/** Boolean SQL over `i`: the plan of its project is not `free`, with which rules have no effect. */
export const RULES_HAVE_EFFECT_SQL = `(select n.plan from directory_projects p
  join directory_namespaces n on n.id = p.namespace_id where p.id = i.project_id) <> 'free'`;

/**
 * Boolean SQL over `i`: a rule lacks approvals. Rules without any approver count as fulfilled, and rules of projects with
 * the plan `free` have no effect. Source: reference repositories 8.14.
 */
export const UNAPPROVED_SQL = `exists (select 1 from approval_rules r where ${OF_MERGE_REQUEST_SQL}
  and r.approvals_required > 0 and ${HAS_APPROVERS_SQL} and cardinality(${COUNTED_SQL}) < r.approvals_required
  and ${RULES_HAVE_EFFECT_SQL})`;
