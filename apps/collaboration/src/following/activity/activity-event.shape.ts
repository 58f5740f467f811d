import { alwaysNull, nullable, text } from '@rookery/api-v4';
import { json, beginJsonShape } from '../../base/noteables/json.shape';
import { personShape } from '../../base/noteables/person.shape';
import { anyNoteShape } from '../../talk/notes/note.shape';
import type { AnyNoteSql } from '../../talk/notes/note.shape';
import type { PushData } from './push-entries';
import { ACTION_NAMES, activityActionNameSql, SHOWN_TARGET_TYPES } from './activity-types';

/** SQL expressions for the JSON of an entry and its note. */
export interface ActivityEventSql extends AnyNoteSql {
  readonly targetIid: string;
  readonly targetTitle: string;
}

const pushDataFieldSql = (key: keyof PushData): string => `e.push_data ->> '${key}'`;

/** Facts of a push. The SQL uses the alias `e` (the entry). Source: reference repositories 1.6. */
const pushDataShape = beginJsonShape<undefined>('PushData').fields({
  commit_count: [json.int, () => pushDataFieldSql('commit_count')],
  action: [json.choice('created', 'pushed', 'removed'), () => pushDataFieldSql('action')],
  ref_type: [json.choice('branch', 'tag'), () => pushDataFieldSql('ref_type')],
  commit_from: [json.tokenOrNull, () => pushDataFieldSql('commit_from')],
  commit_to: [json.tokenOrNull, () => pushDataFieldSql('commit_to')],
  ref: [json.textOrNull, () => pushDataFieldSql('ref')],
  commit_title: [json.textOrNull, () => pushDataFieldSql('commit_title')],
  ref_count: [json.intOrNull, () => pushDataFieldSql('ref_count')],
});

/**
 * An entry of a feed in the API. The SQL uses the aliases `e` (the entry), `author` (directory_users, may be missing),
 * `n` (note, may be missing) and `a` (the author of the note).
 * Source: requirements 1 §2 Event; reference work-tracking 7.4.
 */
export const activityEventShape = beginJsonShape<ActivityEventSql>('ActivityEvent')
  .fields({
    id: [json.int, () => 'e.id'],
    title: [json.constant(nullable(text)), () => null],
    project_id: [json.int, () => 'e.project_id'],
    action_name: [json.choice<string>(...ACTION_NAMES), () => activityActionNameSql('e')],
    target_id: [json.intOrNull, () => 'e.target_id'],
    target_iid: [json.intOrNull, (sql) => sql.targetIid],
    target_type: [json.choiceOrNull<string>(...SHOWN_TARGET_TYPES), () => 'e.target_type'],
    author_id: [json.int, () => 'e.author_id'],
    target_title: [json.textOrNull, (sql) => sql.targetTitle],
    created_at: [json.instant, () => 'e.created_at'],
    imported: [json.bool, () => `e.imported_from <> 'none'`],
    imported_from: [json.text, () => 'e.imported_from'],
    author_username: [json.tokenOrNull, () => 'author.username'],
    data: [json.constant(alwaysNull), () => null],
  })
  .extend<ActivityEventSql>('ActivityEvent')
  .fields(
    { author: [json.object(personShape), ({ externalUrl }) => ({ user: 'author', externalUrl })] },
    () => 'author.id is not null',
  )
  .extend<ActivityEventSql>('ActivityEvent')
  .fields({ note: [json.object(anyNoteShape), (sql) => sql] }, () => 'n.id is not null')
  .extend<ActivityEventSql>('ActivityEvent')
  .fields({ push_data: [json.object(pushDataShape), () => undefined] }, () => 'e.push_data is not null');
