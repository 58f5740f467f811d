/**
 * The target of a to-do as the limit renders it: an issue with all fields of the product, from the same tables.
 *
 * @typedef {Record<string, any>} Row
 */
const string = { type: 'string' };
const maybe = { type: ['string', 'null'] };
const integer = { type: 'integer' };
const number = { type: ['integer', 'null'] };
const boolean = { type: 'boolean' };
/** Schema of texts and objects whose fields are named in the SQL statement. */
const unnamed = {};

export const ISSUE_COLUMNS = `i.id as i_id, i.iid, i.title, i.description, i.state as i_state, i.created_at as i_created,
  i.updated_at as i_updated, i.closed_at, i.public_notes_count, i.confidential, i.issue_type, i.upvotes_count,
  i.downvotes_count, i.due_on::text as due_on, i.discussion_locked, i.time_estimate, i.total_time_spent,
  i.task_count, i.completed_task_count, i.weight, i.moved_to_id, i.imported_from, assigned.people, named.labels,
  blocked.count as blocking, canonical.path as canonical, m.json as milestone, served.json as epic`;

export const ISSUE_JOINS = `
  left join lateral (select json_agg(json_build_object('id', u.id, 'username', u.username, 'public_email', u.public_email,
      'name', u.name, 'state', u.state, 'locked', false, 'avatar_url', u.avatar_url) order by w.position) as people
    from issue_assignees w join directory_users u on u.id = w.user_id where w.issue_id = i.id) assigned on true
  left join lateral (select json_agg(l.title order by l.title) as labels from label_links k join labels l on l.id = k.label_id
    where k.noteable_id = i.id and k.noteable_type = 'Issue') named on true
  left join lateral (select count(*) from issue_links k join issues o on o.id = k.target_id
    where k.source_id = i.id and k.link_type = 'blocks' and o.state = 'opened') blocked on true
  left join lateral (select o.project_id || '/issues/' || o.iid as path from issues o where o.id = i.duplicated_to_id) canonical on true
  left join lateral (select to_json(o) as json from milestones o where o.id = i.milestone_id) m on true
  left join lateral (select json_build_object('id', e.id, 'iid', e.iid, 'title', e.title, 'group_id', e.group_id) as json
    from epic_issues k join epics e on e.id = k.epic_id where k.issue_id = i.id) served on true`;

/**
 * Schema of an issue, with the schema of a user.
 * @param {object} user
 */
export const createIssueSchema = (user) => ({
  type: 'object',
  properties: {
    id: integer,
    iid: integer,
    project_id: integer,
    title: string,
    description: maybe,
    state: string,
    created_at: string,
    updated_at: string,
    closed_at: maybe,
    closed_by: { ...user, nullable: true },
    labels: { type: 'array', items: string },
    milestone: unnamed,
    assignees: { type: 'array', items: user },
    author: user,
    type: string,
    assignee: { ...user, nullable: true },
    user_notes_count: integer,
    merge_requests_count: integer,
    upvotes: integer,
    downvotes: integer,
    due_date: maybe,
    confidential: boolean,
    discussion_locked: { type: ['boolean', 'null'] },
    issue_type: string,
    web_url: string,
    time_stats: {
      type: 'object',
      properties: {
        time_estimate: integer,
        total_time_spent: integer,
        human_time_estimate: maybe,
        human_total_time_spent: maybe,
      },
    },
    task_completion_status: { type: 'object', properties: { count: integer, completed_count: integer } },
    has_tasks: boolean,
    task_status: string,
    weight: number,
    blocking_issues_count: integer,
    _links: {
      type: 'object',
      properties: {
        self: string,
        notes: string,
        award_emoji: string,
        project: string,
        closed_as_duplicate_of: maybe,
      },
    },
    references: { type: 'object', properties: { short: string, relative: string, full: string } },
    severity: string,
    moved_to_id: number,
    imported: boolean,
    imported_from: string,
    service_desk_reply_to: maybe,
    epic_iid: number,
    epic: unnamed,
    iteration: unnamed,
    health_status: maybe,
  },
});

/**
 * Renders an issue. `path` is that of its project; `person(row, prefix)` renders a user.
 * @param {Row} row
 * @param {{ base: string, path: string, person(row: Row, prefix: string): object }} options
 */
export function issueOf(row, { base, path, person }) {
  const api = `${base}/api/v4/projects/`;
  const self = `${api}${row.p_id}/issues/${row.iid}`;
  const assignees = row.people ?? [];
  return {
    id: Number(row.i_id),
    iid: Number(row.iid),
    project_id: Number(row.p_id),
    title: row.title,
    description: row.description,
    state: row.i_state,
    created_at: row.i_created.toISOString(),
    updated_at: row.i_updated.toISOString(),
    closed_at: row.closed_at?.toISOString() ?? null,
    closed_by: row.c_id === null ? null : person(row, 'c_'),
    labels: row.labels ?? [],
    milestone: row.milestone,
    assignees,
    author: person(row, 'b_'),
    type: row.issue_type.toUpperCase(),
    assignee: assignees[0] ?? null,
    user_notes_count: row.public_notes_count,
    merge_requests_count: 0,
    upvotes: row.upvotes_count,
    downvotes: row.downvotes_count,
    due_date: row.due_on,
    confidential: row.confidential,
    discussion_locked: row.discussion_locked,
    issue_type: row.issue_type,
    web_url: `${base}/${path}/-/issues/${row.iid}`,
    time_stats: {
      time_estimate: row.time_estimate,
      total_time_spent: row.total_time_spent,
      human_time_estimate: null,
      human_total_time_spent: null,
    },
    task_completion_status: { count: row.task_count, completed_count: row.completed_task_count },
    has_tasks: row.task_count > 0,
    task_status: `${row.completed_task_count} of ${row.task_count} checklist items completed`,
    weight: row.weight,
    blocking_issues_count: Number(row.blocking),
    _links: {
      self,
      notes: `${self}/notes`,
      award_emoji: `${self}/award_emoji`,
      project: `${api}${row.p_id}`,
      closed_as_duplicate_of: row.canonical === null ? null : api + row.canonical,
    },
    references: { short: `#${row.iid}`, relative: `#${row.iid}`, full: `${path}#${row.iid}` },
    severity: 'UNKNOWN',
    moved_to_id: row.moved_to_id,
    imported: row.imported_from !== 'none',
    imported_from: row.imported_from,
    service_desk_reply_to: null,
    epic_iid: row.epic?.iid ?? null,
    epic: row.epic,
    iteration: null,
    health_status: null,
  };
}
