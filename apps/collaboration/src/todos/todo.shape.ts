import { choice } from '@rookery/api-v4';
import { issueDetailShape, issueShape } from '../issues/issue.shape';
import { json, jsonShape, literalSql } from '../json-rows/json-shape';
import type { JsonShape } from '../json-rows/json-shape';
import { userShape } from '../json-rows/user-shapes';
import { TODO_ACTIONS, TODO_STATES, TODO_TARGET_TYPES } from './todo-actions';

export interface TodoSql {
  readonly externalUrl: string;
  /** User id of the owner, for `subscribed`; null in lists, where it is left out. */
  readonly viewer: string | null;
}

/**
 * A to-do as the API shows it. Shape: aliases `t` (the item beside the columns of its project's access), `i` (issue),
 * `n` (note, may be missing), `author` (directory_users, may be missing).
 * Source: requirements 1 §2 To-do item; reference work-tracking 6.2.
 */
export function todoShape({ externalUrl, viewer }: TodoSql): JsonShape {
  const issueSql = { externalUrl, fullPath: 't.full_path', readsInternal: 't.reads_internal' };
  const issue = viewer === null ? issueShape(issueSql) : issueDetailShape({ ...issueSql, viewer });
  const base = literalSql(`${externalUrl.replace(/\/+$/, '')}/`);
  const anchor = `case when t.note_id is null then '' else '#note_' || t.note_id end`;
  return jsonShape(viewer === null ? 'Todo' : 'TodoDetail', {
    id: json.int('t.id'),
    project: json.object(projectShape()),
    author: json.object(userShape('author', externalUrl), 'author.id is not null'),
    action_name: { ...json.text('t.action'), type: choice(...TODO_ACTIONS) as never },
    target_type: { ...json.text('t.target_type'), type: choice(...TODO_TARGET_TYPES) as never },
    target: json.object(issue),
    target_url: json.text(`${base} || t.full_path || '/-/issues/' || i.iid || ${anchor}`),
    body: json.text('coalesce(n.body, i.title)'),
    state: { ...json.text('t.state'), type: choice(...TODO_STATES) as never },
    created_at: json.instant('t.created_at'),
    updated_at: json.instant('t.updated_at'),
  });
}

function projectShape(): JsonShape {
  return jsonShape('TodoProject', {
    id: json.int('t.project_id'),
    description: json.textOrNull('t.description'),
    name: json.text('t.name'),
    name_with_namespace: json.text('t.name_with_namespace'),
    path: json.text('t.path'),
    path_with_namespace: json.text('t.full_path'),
    created_at: json.instant('t.project_created_at'),
  });
}
