import { filter } from '@rookery/persistence';
import type { Bind, Filters } from '@rookery/persistence';
import { hasLabelSql, labelFilterSql } from '../../../planning/labels/labelling/label-filter';
import type { LabelFilter, LabelReach } from '../../../planning/labels/labelling/label-filter';
import { milestoneFilterSql } from '../../../planning/milestones/assigning/milestone-filter';
import type { MilestoneFilter } from '../../../planning/milestones/assigning/milestone-filter';
import { hasPersonSql, peopleConditions, userConditions } from '../../../planning/people/people-filter';
import type { PeopleFilter, UserFilter } from '../../../planning/people/people-filter';
import { reactionFilterSql } from '../../../talk/award-emoji/reaction-filter';
import { containsWordsSql } from '../../issues/listing/issue-filter';
import type { ReachSql } from '../../issues/listing/issue-filter';
import { OF_MERGE_REQUEST_SQL } from '../approvals/approval-sql';
import type { MergeRequestState } from '../merge-request.entity';
import { mergeRequestAssignees, mergeRequestReviewers } from '../people/merge-request-people';

/** Users of a filter. */
interface MergeRequestPeopleFilter {
  readonly author?: UserFilter | undefined;
  readonly mergeUser?: UserFilter | undefined;
  readonly assignee?: PeopleFilter | undefined;
  readonly reviewer?: PeopleFilter | undefined;
}

/** Filter of a list of merge requests. Each part is optional; all given parts must match. */
export interface MergeRequestFilter {
  readonly state?: MergeRequestState | 'all' | undefined;
  readonly scope?: 'created_by_me' | 'assigned_to_me' | 'reviews_for_me' | 'all' | undefined;
  readonly people?: MergeRequestPeopleFilter | undefined;
  readonly iids?: readonly number[] | undefined;
  readonly draft?: boolean | undefined;
  readonly sourceBranch?: string | undefined;
  readonly targetBranch?: string | undefined;
  readonly sourceProjectId?: number | undefined;
  readonly search?: string | undefined;
  readonly searchIn?: readonly ('title' | 'description')[] | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
  readonly mergedAfter?: Date | undefined;
  readonly mergedBefore?: Date | undefined;
  readonly labels?: LabelFilter | undefined;
  readonly milestone?: MilestoneFilter | undefined;
  /** An emoji that the caller reacted with, `None` or `Any`. */
  readonly reaction?: string | undefined;
  /** Whether it has an approval. */
  readonly isApproved?: boolean | undefined;
  /** Users who all have approved it: ids or names; `None` or `Any` alone. */
  readonly approvedBy?: readonly (string | number)[] | undefined;
  /** Users whom its rules for approvals name; `None` or `Any` alone. */
  readonly approverIds?: readonly (string | number)[] | undefined;
  /** A filter requires a property that no merge request has, for instance a deployment. */
  readonly matchesNothing?: boolean | undefined;
  readonly not?: Exclusion | undefined;
}

/** Exclusions of a list: merge requests match none of them. */
interface Exclusion extends Omit<MergeRequestPeopleFilter, 'mergeUser'> {
  readonly labels?: LabelFilter | undefined;
  readonly milestone?: MilestoneFilter | undefined;
  readonly reaction?: string | undefined;
  readonly sourceBranch?: string | undefined;
  readonly targetBranch?: string | undefined;
}

/** Filters of lists of merge requests `i`. */
export function mergeRequestFilters(reach: ReachSql): Filters<MergeRequestFilter> {
  const viewer = reach.person.user;
  return {
    matchesNothing: filter.when('false'),
    isApproved: (is) => `${is ? '' : 'not '}${APPROVED}`,
    approvedBy: (users, bind) => matchesAllUsersSql(users, bind, APPROVED, isApprovedBySql),
    approverIds: (users, bind) => matchesAllUsersSql(users, bind, HAS_APPROVER, isUserNamedApproverSql),
    state: (state) => state !== 'all' && `i.state = '${state}'`,
    scope: (scope) => SCOPES[scope](viewer),
    people: (people, bind) => mergeRequestPeopleConditions(people, bind, 'all').join(' and '),
    iids: (iids, bind) => `i.iid = any(${bind(iids)}::bigint[])`,
    draft: filter.whether('i.draft'),
    sourceBranch: filter.equals('i.source_branch'),
    targetBranch: filter.equals('i.target_branch'),
    sourceProjectId: (id, bind) => `i.source_project_id = ${bind(id)}::bigint`,
    search: (text, bind, { searchIn }) =>
      containsWordsSql(text, bind, searchIn?.length ? searchIn : ['title', 'description']),
    createdAfter: filter.compares('i.created_at', '>='),
    createdBefore: filter.compares('i.created_at', '<='),
    updatedAfter: filter.compares('i.updated_at', '>='),
    updatedBefore: filter.compares('i.updated_at', '<='),
    mergedAfter: filter.compares('i.merged_at', '>='),
    mergedBefore: filter.compares('i.merged_at', '<='),
    labels: (labels, bind) => labelFilterSql(labels, reach.labels, bind),
    milestone: (milestone, bind) => milestoneFilterSql(milestone, reach.milestones, bind),
    reaction: (name, bind) => reactionFilterSql('MergeRequest', viewer, name, bind),
    not: (not, bind) => isExcludedMergeRequestSql(reach, not, bind),
  };
}

const APPROVED = 'exists (select 1 from merge_request_approvals a where a.merge_request_id = i.id)';
const NAMED = `from approval_rules r join approval_rule_users x on x.rule_id = r.id where ${OF_MERGE_REQUEST_SQL}`;
const HAS_APPROVER = `exists (select 1 ${NAMED})`;

function isApprovedBySql(user: string): string {
  return `exists (select 1 from merge_request_approvals a where a.merge_request_id = i.id and a.user_id = ${user})`;
}

function isUserNamedApproverSql(user: string): string {
  return `exists (select 1 ${NAMED} and x.user_id = ${user})`;
}

/** Condition that all users of a list match, or `None` or `Any`. `conditionForUser` receives the SQL of a user's id. */
function matchesAllUsersSql(
  users: readonly (string | number)[],
  bind: Bind,
  conditionForAny: string,
  conditionForUser: (user: string) => string,
): string {
  const [only] = users;
  if (users.length === 1 && /^none$/i.test(String(only))) return `not ${conditionForAny}`;
  if (users.length === 1 && /^any$/i.test(String(only))) return conditionForAny;
  const idOf = (user: string | number): string =>
    typeof user === 'number'
      ? `${bind(user)}::bigint`
      : `(select u.id from directory_users u where lower(u.username) = lower(${bind(user)}))`;
  return users.map((user) => conditionForUser(idOf(user))).join(' and ');
}

const SCOPES: Readonly<Record<NonNullable<MergeRequestFilter['scope']>, (viewer: string) => string | false>> = {
  all: () => false,
  created_by_me: (viewer) => `i.author_id = ${viewer}`,
  assigned_to_me: (viewer) => hasPersonSql(mergeRequestAssignees, viewer),
  reviews_for_me: (viewer) => hasPersonSql(mergeRequestReviewers, viewer),
};

function mergeRequestPeopleConditions(
  { author = {}, mergeUser = {}, assignee = {}, reviewer = {} }: MergeRequestPeopleFilter,
  bind: Bind,
  match: 'all' | 'any',
): string[] {
  return [
    ...userConditions('author_id', author, bind, 'author'),
    ...userConditions('merged_by_id', mergeUser, bind, 'merge_user'),
    ...peopleConditions(mergeRequestAssignees, assignee, bind, { match, name: 'assignee' }),
    ...peopleConditions(mergeRequestReviewers, reviewer, bind, { match, name: 'reviewer' }),
  ];
}

function isExcludedMergeRequestSql(reach: ReachSql, not: Exclusion, bind: Bind): string {
  const { labels, milestone, reaction, sourceBranch, targetBranch } = not;
  const conditions = [
    ...mergeRequestPeopleConditions(not, bind, 'any'),
    ...(labels === undefined ? [] : [hasLabelSql(labels, reach.labels, bind)]),
    ...(milestone === undefined ? [] : [milestoneFilterSql(milestone, reach.milestones, bind)]),
    ...(reaction === undefined ? [] : [reactionFilterSql('MergeRequest', reach.person.user, reaction, bind)]),
    ...(sourceBranch === undefined ? [] : [`i.source_branch = ${bind(sourceBranch)}`]),
    ...(targetBranch === undefined ? [] : [`i.target_branch = ${bind(targetBranch)}`]),
  ];
  return conditions.map((condition) => `(${condition}) is not true`).join(' and ');
}

/** Labels that merge requests of a project can have. */
export function toMergeRequestLabelReach(reach: Omit<LabelReach, 'type'>): LabelReach {
  return { type: 'MergeRequest', ...reach };
}
