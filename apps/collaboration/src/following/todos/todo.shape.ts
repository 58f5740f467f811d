import { TODO_ACTIONS, TODO_STATES, TODO_TARGET_TYPES } from './todo-actions';
import { json, beginJsonShape, literalSql } from '../../base/noteables/json.shape';
import { trimBaseUrl, personShape } from '../../base/noteables/person.shape';
import { targets } from '../../base/noteables/targets.shape';

const groupShape = beginJsonShape<{ readonly externalUrl: string }>('TodoGroup').fields({
  id: [json.int, () => 't.group_id'],
  name: [json.text, () => 't.name'],
  path: [json.text, () => 't.path'],
  kind: [json.choice('group'), () => ({ is: 'group' as const })],
  full_path: [json.text, () => 't.full_path'],
  parent_id: [json.intOrNull, () => 't.parent_id'],
  avatar_url: [json.textOrNull, () => 't.avatar_url'],
  web_url: [json.prefixed, (sql) => ({ prefix: `${trimBaseUrl(sql)}/groups/`, sql: 't.full_path' })],
});

/** A project that is itself the target of a to-do. */
const projectTargetShape = beginJsonShape<{ readonly externalUrl: string }>('TodoProjectTarget').fields({
  id: [json.int, () => 't.project_id'],
  description: [json.textOrNull, () => 't.description'],
  name: [json.text, () => 't.name'],
  name_with_namespace: [json.text, () => 't.name_with_namespace'],
  path: [json.text, () => 't.path'],
  path_with_namespace: [json.text, () => 't.full_path'],
  created_at: [json.instant, () => 't.project_created_at'],
  web_url: [json.prefixed, (sql) => ({ prefix: `${trimBaseUrl(sql)}/`, sql: 't.full_path' })],
});

/** Projects and groups as targets: those of access requests. Source: reference work-tracking 6.2. */
export const placeTargetShapes = { Project: projectTargetShape, Namespace: groupShape };

const projectShape = beginJsonShape<unknown>('TodoProject').fields({
  id: [json.int, () => 't.project_id'],
  description: [json.textOrNull, () => 't.description'],
  name: [json.text, () => 't.name'],
  name_with_namespace: [json.text, () => 't.name_with_namespace'],
  path: [json.text, () => 't.path'],
  path_with_namespace: [json.text, () => 't.full_path'],
  created_at: [json.instant, () => 't.project_created_at'],
});

/** SQL of a to-do's URL: the page of its target or of the pipelines of the target, with the anchor of its note. */
function todoUrlSql(sql: { readonly externalUrl: string }): string {
  const anchor = `case when t.note_id is null then '' else '#note_' || t.note_id end`;
  const page = `case t.action when 'build_failed' then '/pipelines' else '' end`;
  return `${literalSql(`${trimBaseUrl(sql)}/`)} || target.path || ${page} || ${anchor}`;
}

const createCommonTodoShape = (name: string, target: ReturnType<typeof json.written>) =>
  beginJsonShape<{ readonly externalUrl: string }>(name).fields({
    id: [json.int, () => 't.id'],
    author: [
      json.objectWhen(personShape),
      ({ externalUrl }) => ({ of: { user: 'author', externalUrl }, when: 'author.id is not null' }),
    ],
    action_name: [json.choice(...TODO_ACTIONS), () => 't.action'],
    target_type: [json.choice(...TODO_TARGET_TYPES), () => 't.target_type'],
    target: [target, () => 'target.json'],
    target_url: [json.text, todoUrlSql],
    body: [json.text, () => 'coalesce(n.body, target.title)'],
    state: [json.choice(...TODO_STATES), () => 't.state'],
    created_at: [json.instant, () => 't.created_at'],
    updated_at: [json.instant, () => 't.updated_at'],
  });

/**
 * A to-do in the API. In lists its target has no `subscribed`. A to-do has a project or a group. The SQL uses the
 * aliases `t` (the row joined with the access to its project or group), `target` (columns `json`, `path` and `title`),
 * `n` (note, may be missing) and `author` (directory_users, may be missing).
 * Source: requirements 1 §2 To-do item; reference work-tracking 6.2.
 */
const createTodoShape = (name: string, target: ReturnType<typeof json.written>) =>
  createCommonTodoShape(name, target)
    .extend<{ readonly externalUrl: string }>(name)
    .fields({ project: [json.object(projectShape), (sql) => sql] }, () => 't.group_id is null')
    .extend<{ readonly externalUrl: string }>(name)
    .fields({ group: [json.object(groupShape), (sql) => sql] }, () => 't.group_id is not null');

export const todoShape = createTodoShape('Todo', json.written(targets.listed));
export const todoDetailShape = createTodoShape('TodoDetail', json.written(targets.detailed));
