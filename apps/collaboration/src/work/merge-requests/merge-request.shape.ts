import { nullable, object, text } from '@rookery/api-v4';
import { projectAccessLevelSql } from '@rookery/directory';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { json, beginJsonShape, jsonTextsSql } from '../../base/noteables/json.shape';
import type { PersonalDetailSql, PersonalJsonSql } from '../../base/noteables/noteable-kinds';
import { trimBaseUrl, personShape } from '../../base/noteables/person.shape';
import { referencesShape, webPathSql } from '../../base/noteables/references.shape';
import type { ReferenceFormat } from '../../base/noteables/references.shape';
import { subscribedSql } from '../../base/noteables/subscribed-sql';
import { taskStatusShape } from '../../base/noteables/task-status.shape';
import { labelDetailsBytesSql, labelsOf } from '../../planning/labels/labelling/labels.shape';
import { MILESTONE_BYTES, milestoneOfNoteable } from '../../planning/milestones/milestone.shape';
import { timeStatsShape } from '../../planning/time-tracking/time-stats.shape';
import { MERGE_REQUEST_STATES } from './merge-request.entity';
import { mayMergeIntoTargetSql } from './merging/merge-permissions';
import { BLOCKED_BY_THREADS_SQL, MERGE_RULES_SQL, SQUASH_ON_MERGE_SQL } from './merging/merge-rules';
import { detailedMergeStatus, mergeStatus } from './merge-status.shape';
import { mergeRequestAssignees, mergeRequestReviewers } from './people/merge-request-people';
import { SHOWN_HEAD_PIPELINE_SQL } from './pipelines/head-pipeline-sql';
import { headPipelineShape, pipelineShape } from './pipelines/pipelines.shape';
import type { AssignedPeopleList } from '../../planning/people/people-list';

/** References to merge requests use the number in the project. */
export const MERGE_REQUEST_SHOWN_AS: ReferenceFormat = { shownId: 'iid', webPath: '/-/merge_requests/', sigil: '!' };

const OF_MERGE_REQUEST = { type: 'MergeRequest' } as const;
const FOLLOWED = { ...OF_MERGE_REQUEST, assignees: mergeRequestAssignees, reviewers: mergeRequestReviewers };

const personJsonSource = ({ externalUrl }: PersonalJsonSql, fromSql: string) => ({
  of: { user: 'u', externalUrl },
  from: fromSql,
});
const userJsonSource = (sql: PersonalJsonSql, idSql: string) => ({
  ...personJsonSource(sql, `from directory_users u where u.id = ${idSql}`),
  by: idSql,
});
const assignedPeopleJsonSql = (sql: PersonalJsonSql, list: AssignedPeopleList): string =>
  jsonTextsSql(
    personShape,
    personJsonSource(sql, `from directory_users u, ${list.ofNoteable} and u.id = s.user_id`),
    's.position',
  );

/** FROM items for the assignees, which the JSON shows in two fields, the reviewers and the settings of the project. */
const peopleAndMergeRulesSql = (sql: PersonalJsonSql): string =>
  `${assignedPeopleJsonSql(sql, mergeRequestAssignees)} assigned cross join ${assignedPeopleJsonSql(sql, mergeRequestReviewers)} reviewing
    cross join ${MERGE_RULES_SQL}`;

const MERGE_USER = 'coalesce(i.merged_by_id, i.auto_merge_user_id)';

/** Fields of a merge request with `view=simple`. Source: reference repositories 8.7. */
export const simpleMergeRequestShape = beginJsonShape<PersonalJsonSql>('SimpleMergeRequest').fields({
  id: [json.int, () => 'i.id'],
  iid: [json.int, () => 'i.iid'],
  project_id: [json.int, () => 'i.project_id'],
  title: [json.text, () => 'i.title'],
  description: [json.textOrNull, () => 'i.description'],
  state: [json.choice<string>(...MERGE_REQUEST_STATES), () => 'i.state'],
  created_at: [json.instant, () => 'i.created_at'],
  updated_at: [json.instant, () => 'i.updated_at'],
  web_url: [
    json.prefixed,
    (sql) => ({ prefix: `${trimBaseUrl(sql)}/`, sql: webPathSql(MERGE_REQUEST_SHOWN_AS, sql.fullPath) }),
  ],
});

/**
 * JSON of a merge request in lists and to-dos. The SQL uses the alias `i` (merge_requests).
 * Source: reference repositories 8.2.
 */
export const mergeRequestShape = beginJsonShape<PersonalJsonSql>('MergeRequest', peopleAndMergeRulesSql)
  .fields({
    id: [json.int, () => 'i.id'],
    iid: [json.int, () => 'i.iid'],
    project_id: [json.int, () => 'i.project_id'],
    title: [json.text, () => 'i.title'],
    description: [json.textOrNull, () => 'i.description'],
    state: [json.choice<string>(...MERGE_REQUEST_STATES), () => 'i.state'],
    created_at: [json.instant, () => 'i.created_at'],
    updated_at: [json.instant, () => 'i.updated_at'],
    merged_by: [json.found(personShape), (sql) => userJsonSource(sql, 'i.merged_by_id')],
    merge_user: [json.found(personShape), (sql) => userJsonSource(sql, MERGE_USER)],
    merged_at: [json.instantOrNull, () => 'i.merged_at'],
    closed_by: [json.found(personShape), (sql) => userJsonSource(sql, 'i.closed_by_id')],
    closed_at: [json.instantOrNull, () => 'i.closed_at'],
    target_branch: [json.text, () => 'i.target_branch'],
    source_branch: [json.text, () => 'i.source_branch'],
    user_notes_count: [
      json.int,
      ({ readsInternal }) => `i.public_notes_count + case when ${readsInternal} then i.internal_notes_count else 0 end`,
    ],
    upvotes: [json.int, () => 'i.upvotes_count'],
    downvotes: [json.int, () => 'i.downvotes_count'],
    author: [
      json.found(personShape),
      (sql) => personJsonSource(sql, 'from directory_users u where u.id = i.author_id'),
    ],
    assignees: [json.list(personShape), () => 'assigned.texts'],
    assignee: [json.first(personShape), () => 'assigned.texts'],
    reviewers: [json.list(personShape), () => 'reviewing.texts'],
    source_project_id: [json.intOrNull, () => 'i.source_project_id'],
    target_project_id: [json.int, () => 'i.project_id'],
    labels: [
      labelsOf,
      ({ withLabelDetails, above }) => ({
        ...OF_MERGE_REQUEST,
        withDetails: withLabelDetails === true,
        above,
      }),
    ],
    draft: [json.bool, () => 'i.draft'],
    imported: [json.bool, () => `i.imported_from <> 'none'`],
    imported_from: [json.token, () => 'i.imported_from'],
    work_in_progress: [json.bool, () => 'i.draft'],
    milestone: milestoneOfNoteable,
    merge_when_pipeline_succeeds: [json.bool, () => `i.state = 'opened' and i.auto_merge_user_id is not null`],
    merge_status: mergeStatus,
    detailed_merge_status: detailedMergeStatus,
    merge_after: [json.instantOrNull, () => 'i.merge_after'],
    sha: [json.tokenOrNull, () => 'i.head_sha'],
    merge_commit_sha: [json.tokenOrNull, () => 'i.merge_commit_sha'],
    squash_commit_sha: [json.tokenOrNull, () => 'i.squash_commit_sha'],
    discussion_locked: [json.boolOrNull, () => 'i.discussion_locked'],
    should_remove_source_branch: [json.boolOrNull, () => 'i.should_remove_source_branch'],
    force_remove_source_branch: [json.boolOrNull, () => 'i.force_remove_source_branch'],
    prepared_at: [json.instant, () => 'i.created_at'],
    reference: [
      json.token,
      ({ fullPath, seenAs }) => (seenAs === undefined ? `'!' || i.iid` : `${fullPath} || '!' || i.iid`),
    ],
    references: [
      json.object(referencesShape),
      ({ fullPath, seenAs }) => ({ as: MERGE_REQUEST_SHOWN_AS, fullPath, seenAs }),
    ],
    web_url: [
      json.prefixed,
      (sql) => ({ prefix: `${trimBaseUrl(sql)}/`, sql: webPathSql(MERGE_REQUEST_SHOWN_AS, sql.fullPath) }),
    ],
    time_stats: [json.object(timeStatsShape), (sql) => sql],
    squash: [json.bool, () => 'i.squash'],
    squash_on_merge: [json.bool, () => SQUASH_ON_MERGE_SQL],
    task_completion_status: [json.object(taskStatusShape), () => undefined],
    has_conflicts: [json.bool, () => `i.merge_status = 'cannot_be_merged'`],
    blocking_discussions_resolved: [json.bool, () => `not ${BLOCKED_BY_THREADS_SQL}`],
    approvals_before_merge: [json.constant(nullable(object({}))), () => null],
  })
  .extend<PersonalJsonSql>('MergeRequest')
  .fields(
    {
      allow_collaboration: [json.bool, () => 'i.allow_collaboration'],
      allow_maintainer_to_push: [json.bool, () => 'i.allow_collaboration'],
    },
    () => 'i.source_project_id <> i.project_id',
  );

/** Merge requests in lists, for the document: with `view=simple` most fields are missing. */
export const listedMergeRequest = mergeRequestShape.documentedAs(
  'ListedMergeRequest',
  simpleMergeRequestShape.fieldNames,
);

/** Size of the texts of a merge request `i` in a list, with those of its milestone and labels. Units: bytes. */
export function mergeRequestTextBytesSql({ withLabelDetails }: Pick<PersonalJsonSql, 'withLabelDetails'>): string {
  const milestone = `(select ${MILESTONE_BYTES} from milestones m where m.id = i.milestone_id)`;
  const labels = withLabelDetails === true ? ` + ${labelDetailsBytesSql(OF_MERGE_REQUEST.type)}` : '';
  return `coalesce(octet_length(i.description), 0) + coalesce(${milestone}, 0)${labels}`;
}

const diffRefsShape = beginJsonShape<unknown>('DiffRefs').fields({
  base_sha: [json.tokenOrNull, () => 'i.base_sha'],
  head_sha: [json.tokenOrNull, () => 'i.head_sha'],
  start_sha: [json.tokenOrNull, () => 'i.start_sha'],
});
const viewerShape = beginJsonShape<PersonalDetailSql>('MergeRequestViewer').fields({
  can_merge: [
    json.bool,
    ({ viewer, person: { isAdmin } }) => mayMergeIntoTargetSql(projectLevelOfUserSql(viewer), isAdmin),
  ],
});
const projectLevelOfUserSql = (user: string): string =>
  `coalesce((select ${projectAccessLevelSql({ user, project: 'p.id', namespace: 'home' })} from directory_projects p
      join directory_namespaces home on home.id = p.namespace_id where p.id = i.project_id), 0)`;

/** Number of changed files from which on only `1000+` is shown. Source: reference repositories 8.2. */
const MAX_FILES = 1000;

/** JSON of a merge request in answers to writes, and of the target of a to-do. Source: reference repositories 8.2. */
export const mergeRequestDetailShape = mergeRequestShape.extend<PersonalDetailSql>('MergeRequestDetail').fields({
  subscribed: [json.bool, ({ viewer }) => subscribedSql(FOLLOWED, viewer)],
  changes_count: [
    json.tokenOrNull,
    () => `case when i.files_count > ${MAX_FILES} then '${MAX_FILES}+' else i.files_count::text end`,
  ],
  latest_build_started_at: [json.instantOrNull, () => `(select c.started_at ${SHOWN_HEAD_PIPELINE_SQL})`],
  latest_build_finished_at: [json.instantOrNull, () => `(select c.finished_at ${SHOWN_HEAD_PIPELINE_SQL})`],
  first_deployed_to_production_at: [json.constant(nullable(text)), () => null],
  pipeline: [json.found(pipelineShape), (sql) => ({ of: sql, from: SHOWN_HEAD_PIPELINE_SQL })],
  head_pipeline: [json.found(headPipelineShape), (sql) => ({ of: sql, from: SHOWN_HEAD_PIPELINE_SQL })],
  diff_refs: [json.object(diffRefsShape), () => undefined],
  merge_error: [json.textOrNull, () => 'i.merge_error'],
  user: [json.object(viewerShape), (sql) => sql],
});

/** SQL expressions of values that the request itself computes; null leaves the key out. */
export type MergeRequestJsonSql = PersonalDetailSql & {
  readonly divergedCommits: string;
  readonly rebaseInProgress: string;
};

/** The author has no role above guest, and no merged merge request in the project. */
const FIRST_CONTRIBUTION = `${projectLevelOfUserSql('i.author_id')} <= ${ACCESS_LEVELS.guest} and not exists (
  select 1 from merge_requests other where other.project_id = i.project_id and other.author_id = i.author_id
    and other.state = 'merged')`;

/** JSON of a merge request on its own route. Source: reference repositories 8.2. */
export const shownMergeRequestShape = mergeRequestDetailShape
  .extend<MergeRequestJsonSql>('ShownMergeRequest')
  .fields({ first_contribution: [json.bool, () => FIRST_CONTRIBUTION] })
  .extend<MergeRequestJsonSql>('ShownMergeRequest')
  .fields(
    { diverged_commits_count: [json.int, ({ divergedCommits }) => divergedCommits] },
    ({ divergedCommits }) => `${divergedCommits} is not null`,
  )
  .extend<MergeRequestJsonSql>('ShownMergeRequest')
  .fields(
    { rebase_in_progress: [json.bool, ({ rebaseInProgress }) => rebaseInProgress] },
    ({ rebaseInProgress }) => `${rebaseInProgress} is not null`,
  );

/** A merge request on its own route, for the document. `MergeRequestAnswers` adds the fields of `render_html`. */
export const shownMergeRequestPresenter = shownMergeRequestShape
  .extend<never>('ShownMergeRequest')
  .fields({ title_html: [json.text, () => ''], description_html: [json.text, () => ''] }, () => '').presenter;
