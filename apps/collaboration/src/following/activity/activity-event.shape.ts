import { nothing, nullable, text } from '@rookery/api-v4';
import { json, jsonShape } from '../../base/noteables/json.shape';
import { personShape } from '../../base/noteables/person.shape';
import { noteShape } from '../../talk/notes/note.shape';
import type { NoteSql } from '../../talk/notes/note.shape';
import { ACTION_NAMES, actionNameSql, SHOWN_TARGET_TYPES } from './activity-words';

/** SQL expressions that an entry's JSON is built from besides those of its note. */
export interface ActivityEventSql extends NoteSql {
  readonly targetIid: string;
  readonly targetTitle: string;
}

/**
 * An entry as the API shows it. Shape: aliases `e` (the entry), `author` (directory_users, may be missing), `n` (note, may
 * be missing) with its author `a`.
 * Source: requirements 1 §2 Event; reference work-tracking 7.4.
 */
export const activityEventShape = jsonShape<ActivityEventSql>('ActivityEvent')
  .fields({
    id: [json.int, () => 'e.id'],
    title: [json.constant(nullable(text)), () => null],
    project_id: [json.int, () => 'e.project_id'],
    action_name: [json.choice<string>(...ACTION_NAMES), () => actionNameSql('e')],
    target_id: [json.intOrNull, () => 'e.target_id'],
    target_iid: [json.intOrNull, (sql) => sql.targetIid],
    target_type: [json.choiceOrNull<string>(...SHOWN_TARGET_TYPES), () => 'e.target_type'],
    author_id: [json.int, () => 'e.author_id'],
    target_title: [json.textOrNull, (sql) => sql.targetTitle],
    created_at: [json.instant, () => 'e.created_at'],
    imported: [json.bool, () => `e.imported_from <> 'none'`],
    imported_from: [json.text, () => 'e.imported_from'],
    author_username: [json.tokenOrNull, () => 'author.username'],
    data: [json.constant(nothing), () => null],
  })
  .extend<ActivityEventSql>('ActivityEvent')
  .fields(
    { author: [json.object(personShape), ({ externalUrl }) => ({ user: 'author', externalUrl })] },
    () => 'author.id is not null',
  )
  .extend<ActivityEventSql>('ActivityEvent')
  .fields({ note: [json.object(noteShape), (sql) => sql] }, () => 'n.id is not null');
