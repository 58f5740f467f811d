import { choice, nullable, object, text } from '@rookery/api-v4';
import { ISSUE_TYPES } from './issue.entity';
import { labelDetailsBytesSql, labelsOf } from '../../planning/labels/labelling/labels.shape';
import { MILESTONE_BYTES, milestoneOfNoteable } from '../../planning/milestones/milestone.shape';
import { json, beginJsonShape, jsonTextsSql } from '../../base/noteables/json.shape';
import type { PersonalDetailSql, PersonalJsonSql } from '../../base/noteables/noteable-kinds';
import { trimBaseUrl, personShape } from '../../base/noteables/person.shape';
import { referencesShape, webPathSql } from '../../base/noteables/references.shape';
import type { ReferenceFormat } from '../../base/noteables/references.shape';
import { subscribedSql } from '../../base/noteables/subscribed-sql';
import { taskStatusShape } from '../../base/noteables/task-status.shape';
import { timeStatsShape } from '../../planning/time-tracking/time-stats.shape';
import { closingMergeRequestsCountSql } from './closing/closing-sql';
import { issueAssignees } from './assignees/issue-assignees';
import { issueEpicShape, issueEpicLateralSql } from './epic/issue-epic.shape';

/** References to issues use the number in the project. */
export const ISSUE_SHOWN_AS: ReferenceFormat = { shownId: 'iid', webPath: '/-/issues/', sigil: '#' };

const OF_ISSUE = { type: 'Issue' } as const;
/**
 * Number of open issues that the issue blocks. Issues of other projects and confidential ones are never counted, since
 * not all readers of the issue may see them. Source: reference work-tracking 9.1.
 */
const BLOCKED_COUNT = `(select count(*) from issue_links held join issues blocked on blocked.id = held.target_id
  where held.source_id = i.id and held.link_type = 'blocks' and blocked.project_id = i.project_id
    and blocked.state = 'opened' and not blocked.confidential)`;
const ASSIGNEES = 'from issue_assignees s join directory_users u on u.id = s.user_id where s.issue_id = i.id';
const CLOSED_BY = 'from directory_users u where u.id = i.closed_by_id';
const personJsonSource = ({ externalUrl }: PersonalJsonSql, fromSql: string) => ({
  of: { user: 'u', externalUrl },
  from: fromSql,
});

/** FROM items for the assignees and the epic, which the JSON each shows in two fields. */
const assigneesAndEpicSql = (
  sql: PersonalJsonSql,
): string => `${jsonTextsSql(personShape, personJsonSource(sql, ASSIGNEES), 's.position')} assigned
  left join lateral ${issueEpicLateralSql(sql.person)} served on true`;

const linksShape = beginJsonShape<PersonalJsonSql>('IssueLinks').fields({
  self: [json.prefixed, (sql) => ({ prefix: projectsApiUrl(sql), sql: OWN_PATH })],
  notes: [json.prefixed, (sql) => ({ prefix: projectsApiUrl(sql), sql: `${OWN_PATH} || '/notes'` })],
  award_emoji: [json.prefixed, (sql) => ({ prefix: projectsApiUrl(sql), sql: `${OWN_PATH} || '/award_emoji'` })],
  project: [json.prefixed, (sql) => ({ prefix: projectsApiUrl(sql), sql: 'i.project_id' })],
  closed_as_duplicate_of: [json.prefixedOrNull, (sql) => ({ prefix: projectsApiUrl(sql), sql: CANONICAL_PATH })],
});
/**
 * Path of the issue that it duplicates, if all readers of the issue may see that: not confidential, and of the same
 * project or a public one. Source: reference work-tracking 9.1.
 */
const CANONICAL_PATH = `case when i.duplicated_to_id is not null then
  (select c.project_id || '/issues/' || c.iid from issues c
    where c.id = i.duplicated_to_id and not c.confidential and (c.project_id = i.project_id or exists (
      select 1 from directory_projects cp where cp.id = c.project_id and cp.visibility = 'public'
        and cp.issues_access_level = 'enabled'))) end`;
const OWN_PATH = `i.project_id || '/issues/' || i.iid`;
const projectsApiUrl = (sql: PersonalJsonSql): string => `${trimBaseUrl(sql)}/api/v4/projects/`;

/**
 * JSON of an issue in lists, to-dos and links. The SQL uses the alias `i` (issues). Fields of features that do not
 * exist yet have a constant value. Source: reference work-tracking 9.1.
 */
export const issueShape = beginJsonShape<PersonalJsonSql>('Issue', assigneesAndEpicSql).fields({
  id: [json.int, () => 'i.id'],
  iid: [json.int, () => 'i.iid'],
  project_id: [json.int, () => 'i.project_id'],
  title: [json.text, () => 'i.title'],
  description: [json.textOrNull, () => 'i.description'],
  state: [json.choice<string>('opened', 'closed'), () => 'i.state'],
  created_at: [json.instant, () => 'i.created_at'],
  updated_at: [json.instant, () => 'i.updated_at'],
  closed_at: [json.instantOrNull, () => 'i.closed_at'],
  closed_by: [json.found(personShape), (sql) => ({ ...personJsonSource(sql, CLOSED_BY), by: 'i.closed_by_id' })],
  labels: [labelsOf, ({ withLabelDetails, above }) => ({ ...OF_ISSUE, withDetails: withLabelDetails === true, above })],
  milestone: milestoneOfNoteable,
  assignees: [json.list(personShape), () => 'assigned.texts'],
  author: [json.found(personShape), (sql) => personJsonSource(sql, 'from directory_users u where u.id = i.author_id')],
  type: [json.choice<string>(...ISSUE_TYPES.map((type) => type.toUpperCase())), () => 'upper(i.issue_type)'],
  assignee: [json.first(personShape), () => 'assigned.texts'],
  user_notes_count: [
    json.int,
    ({ readsInternal }) => `i.public_notes_count + case when ${readsInternal} then i.internal_notes_count else 0 end`,
  ],
  merge_requests_count: [json.int, ({ person: reader }) => closingMergeRequestsCountSql(reader)],
  upvotes: [json.int, () => 'i.upvotes_count'],
  downvotes: [json.int, () => 'i.downvotes_count'],
  due_date: [json.dayOrNull, () => 'i.due_on'],
  confidential: [json.bool, () => 'i.confidential'],
  discussion_locked: [json.boolOrNull, () => 'i.discussion_locked'],
  issue_type: [json.choice<string>(...ISSUE_TYPES), () => 'i.issue_type'],
  web_url: [
    json.prefixed,
    (sql) => ({ prefix: `${trimBaseUrl(sql)}/`, sql: webPathSql(ISSUE_SHOWN_AS, sql.fullPath) }),
  ],
  time_stats: [json.object(timeStatsShape), (sql) => sql],
  task_completion_status: [json.object(taskStatusShape), () => undefined],
  has_tasks: [json.bool, () => 'i.task_count > 0'],
  task_status: [
    json.token,
    () =>
      `i.completed_task_count || ' of ' || i.task_count || ' checklist item' || case when i.task_count = 1 then '' else 's' end || ' completed'`,
  ],
  weight: [json.intOrNull, () => 'i.weight'],
  blocking_issues_count: [json.int, () => BLOCKED_COUNT],
  _links: [json.object(linksShape), (sql) => sql],
  references: [json.object(referencesShape), ({ fullPath, seenAs }) => ({ as: ISSUE_SHOWN_AS, fullPath, seenAs })],
  severity: [json.constant(choice<string>('UNKNOWN')), () => 'UNKNOWN'],
  moved_to_id: [json.intOrNull, () => 'i.moved_to_id'],
  imported: [json.bool, () => `i.imported_from <> 'none'`],
  imported_from: [json.token, () => 'i.imported_from'],
  service_desk_reply_to: [json.constant(nullable(text)), () => null],
  epic_iid: [json.intOrNull, () => 'served.iid'],
  epic: [json.objectWhen(issueEpicShape), (sql) => ({ of: sql, when: 'served.id is not null' })],
  iteration: [json.constant(nullable(object({}))), () => null],
  health_status: [json.constant(nullable(choice('on_track', 'needs_attention', 'at_risk'))), () => null],
});

/** Size of the texts of an issue `i` in a list, with those of its milestone and labels. Units: bytes. */
export function issueTextBytesSql({ withLabelDetails }: Pick<PersonalJsonSql, 'withLabelDetails'>): string {
  const milestone = `(select ${MILESTONE_BYTES} from milestones m where m.id = i.milestone_id)`;
  const labels = withLabelDetails === true ? ` + ${labelDetailsBytesSql(OF_ISSUE.type)}` : '';
  return `coalesce(octet_length(i.description), 0) + coalesce(${milestone}, 0)${labels}`;
}

/** JSON of an issue with `subscribed`, for one issue and for answers to writes. */
export const issueDetailShape = issueShape.extend<PersonalDetailSql>('IssueDetail').fields({
  subscribed: [json.bool, ({ viewer }) => subscribedSql({ type: 'Issue', assignees: issueAssignees }, viewer)],
});
