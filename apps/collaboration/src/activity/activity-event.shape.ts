import { any, nullable, text } from '@rookery/api-v4';
import { ISSUE } from '../noteables/noteable-kinds';
import { noteShape } from '../notes/note.shape';
import { json, jsonShape } from '../json-rows/json-shape';
import type { JsonField, JsonShape } from '../json-rows/json-shape';
import { userShape } from '../json-rows/user-shapes';
import { actionNameSql } from './activity-words';

export interface ActivitySql {
  readonly externalUrl: string;
  /** User id, null for an anonymous caller. */
  readonly viewer: string;
  readonly isAdmin: string;
}

/**
 * An entry of a feed. Shape: aliases `e` (the entry beside `project_name`), `i` (its issue, may be missing), `n` (its
 * note, may be missing), `a` (the note's author), `author` (who did it, may be missing). `author` and `note` are keys
 * only where there is one. Source: requirements 1 §2 Event; reference work-tracking 7.4.
 */
export function activityEventShape(sql: ActivitySql): JsonShape {
  const author = userShape('author', sql.externalUrl);
  const note = noteShape({ ...sql, noteableType: ISSUE.type, noteableIid: 'i.iid' });
  const always = jsonShape('ActivityEventFacts', facts());
  const optional = (key: string, shape: JsonShape, when: string): string =>
    `case when ${when} then ',"${key}":' || ${shape.sql} else '' end`;
  const parts = [
    optional('author', author, 'author.id is not null'),
    optional('note', note, `e.target_type = 'Note' and n.id is not null`),
  ];
  const written = `left(${always.sql}, -1) || ${parts.join(' || ')} || '}'`;
  const { presenter } = jsonShape('ActivityEvent', {
    ...facts(),
    author: json.object(author),
    note: json.object(note, 'true'),
  });
  return { presenter, pieces: [{ sql: written }], sql: written };
}

function facts(): Record<string, JsonField> {
  const targetIid = `case when e.target_type = 'Issue' then i.iid else e.target_id end`;
  const title = `case when e.target_type in ('Issue', 'Note') then i.title when e.target_type = 'Project' then e.project_name end`;
  return {
    id: json.int('e.id'),
    title: json.constant(nullable(text), null),
    project_id: json.int('e.project_id'),
    action_name: json.text(actionNameSql('e')),
    target_id: json.intOrNull('e.target_id'),
    target_iid: json.intOrNull(targetIid),
    target_type: json.textOrNull('e.target_type'),
    author_id: json.int('e.author_id'),
    target_title: json.textOrNull(title),
    created_at: json.instant('e.created_at'),
    imported: json.bool(`e.imported_from <> 'none'`),
    imported_from: json.text('e.imported_from'),
    author_username: json.textOrNull('author.username'),
    data: json.constant(nullable(any), null),
  };
}
