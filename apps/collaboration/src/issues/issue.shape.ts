import { choice, int, list, nullable, object, text } from '@rookery/api-v4';
import { json, jsonShape } from '../json-rows/json-shape';
import type { JsonField, JsonShape } from '../json-rows/json-shape';
import { userShape } from '../json-rows/user-shapes';

/** SQL expressions that an issue's JSON is built from besides its row `i`. */
export interface IssueSql {
  readonly externalUrl: string;
  /** Full path of the issue's project, a text expression. */
  readonly fullPath: string;
  /** Whether internal notes count for the reader. */
  readonly readsInternal: string;
}

/**
 * An issue as lists, to-dos and links show it. Shape: alias `i` (issues). What belongs to features that are not there
 * yet has the value that it has without them. Source: reference work-tracking 9.1.
 */
export function issueShape(sql: IssueSql): JsonShape {
  return jsonShape('Issue', issueFields(sql));
}

/** The same with `subscribed`, for one issue and for answers to writes. Shape: `viewer` is the user id, may be null. */
export function issueDetailShape(sql: IssueSql & { readonly viewer: string }): JsonShape {
  const { viewer } = sql;
  // Without a word of his own, a person follows what he takes part in (reference work-tracking 9.7).
  const takesPart = `(i.author_id = ${viewer}
    or exists (select 1 from issue_assignees s where s.issue_id = i.id and s.user_id = ${viewer})
    or exists (select 1 from notes n where n.noteable_id = i.id and n.noteable_type = 'Issue'
      and n.author_id = ${viewer} and not n.system))`;
  return jsonShape('IssueDetail', { ...issueFields(sql), subscribed: json.bool(takesPart) });
}

const number = nullable(int);

function issueFields({ externalUrl, fullPath, readsInternal }: IssueSql): Record<string, JsonField> {
  const base = externalUrl.replace(/\/+$/, '');
  const user = userShape('u', externalUrl);
  const assignees = 'from issue_assignees s join directory_users u on u.id = s.user_id where s.issue_id = i.id';
  return {
    id: json.int('i.id'),
    iid: json.int('i.iid'),
    project_id: json.int('i.project_id'),
    title: json.text('i.title'),
    description: json.textOrNull('i.description'),
    state: json.token('i.state'),
    created_at: json.instant('i.created_at'),
    updated_at: json.instant('i.updated_at'),
    closed_at: json.instantOrNull('i.closed_at'),
    closed_by: json.found(user, 'from directory_users u where u.id = i.closed_by_id'),
    labels: json.constant(list(text), []),
    milestone: json.constant(nullable(object({})), null),
    assignees: json.list(user, assignees, 's.position'),
    author: json.found(user, 'from directory_users u where u.id = i.author_id'),
    type: json.token('upper(i.issue_type)'),
    assignee: json.found(user, `${assignees} order by s.position limit 1`),
    user_notes_count: json.int(
      `i.public_notes_count + case when ${readsInternal} then i.internal_notes_count else 0 end`,
    ),
    merge_requests_count: json.constant(int, 0),
    upvotes: json.constant(int, 0),
    downvotes: json.constant(int, 0),
    due_date: json.dayOrNull('i.due_on'),
    confidential: json.bool('i.confidential'),
    discussion_locked: json.boolOrNull('i.discussion_locked'),
    issue_type: json.token('i.issue_type'),
    web_url: json.token(`${fullPath} || '/-/issues/' || i.iid`, `${base}/`),
    time_stats: timeStats(),
    task_completion_status: json.object(taskStatus()),
    has_tasks: json.bool('i.task_count > 0'),
    task_status: json.token(
      `i.completed_task_count || ' of ' || i.task_count || ' checklist item' || case when i.task_count = 1 then '' else 's' end || ' completed'`,
    ),
    weight: json.constant(number, null),
    blocking_issues_count: json.constant(int, 0),
    _links: json.object(links(base)),
    references: json.object(references(fullPath)),
    severity: json.constant(text, 'UNKNOWN'),
    moved_to_id: json.constant(number, null),
    imported: json.bool(`i.imported_from <> 'none'`),
    imported_from: json.token('i.imported_from'),
    service_desk_reply_to: json.constant(nullable(text), null),
    epic_iid: json.constant(number, null),
    epic: json.constant(nullable(object({})), null),
    iteration: json.constant(nullable(object({})), null),
    health_status: json.constant(nullable(choice('on_track', 'needs_attention', 'at_risk')), null),
  };
}

function timeStats(): JsonField {
  return json.constant(
    object<Record<string, unknown>>({
      time_estimate: int as never,
      total_time_spent: int as never,
      human_time_estimate: nullable(text) as never,
      human_total_time_spent: nullable(text) as never,
    }),
    { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null },
  );
}

function taskStatus(): JsonShape {
  return jsonShape('TaskCompletionStatus', {
    count: json.int('i.task_count'),
    completed_count: json.int('i.completed_task_count'),
  });
}

function links(base: string): JsonShape {
  const projects = `${base}/api/v4/projects/`;
  const issue = `i.project_id || '/issues/' || i.iid`;
  return jsonShape('IssueLinks', {
    self: json.token(issue, projects),
    notes: json.token(`${issue} || '/notes'`, projects),
    award_emoji: json.token(`${issue} || '/award_emoji'`, projects),
    project: json.token('i.project_id', projects),
    closed_as_duplicate_of: json.constant(nullable(text), null),
  });
}

function references(fullPath: string): JsonShape {
  return jsonShape('References', {
    short: json.token('i.iid', '#'),
    relative: json.token('i.iid', '#'),
    full: json.token(`${fullPath} || '#' || i.iid`),
  });
}

/** Only for the document: the statements build the JSON. */
const documented = { externalUrl: 'http://localhost', fullPath: `''`, readsInternal: 'false' };
export const issuePresenter = issueShape(documented).presenter;
export const issueDetailPresenter = issueDetailShape({ ...documented, viewer: 'null' }).presenter;
