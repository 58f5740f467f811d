import { bool, choice, instant, int, nested, nothing, nullable, presenter, text } from '@rookery/api-v4';
import { userSummary } from '@rookery/directory';
import { writtenJson } from '../noteables/json.shape';
import { noteShape } from '../notes/note.shape';
import { ACTION_NAMES, SHOWN_TARGET_TYPES } from './activity-words';
import type { FeedEntry } from './feeds';

/** Source: requirements 1 §2 Event; reference work-tracking 7.4. */
export const activityEvent = presenter<FeedEntry>('ActivityEvent').fields({
  id: [int, (entry) => entry.id],
  title: [nullable(text), () => null],
  project_id: [int, (entry) => entry.project_id],
  action_name: [choice<string>(...ACTION_NAMES), (entry) => entry.action_name],
  target_id: [nullable(int), (entry) => entry.target_id],
  target_iid: [nullable(int), (entry) => entry.target_iid],
  target_type: [nullable(choice<string>(...SHOWN_TARGET_TYPES)), (entry) => entry.target_type],
  author_id: [int, (entry) => entry.author_id],
  target_title: [nullable(text), (entry) => entry.target_title],
  created_at: [instant, (entry) => entry.created_at],
  imported: [bool, (entry) => entry.imported_from !== 'none'],
  imported_from: [text, (entry) => entry.imported_from],
  author_username: [nullable(text), (entry) => entry.author?.username],
  data: [nothing, () => null],
  author: [nested(userSummary), (entry) => entry.author!, { when: (entry) => entry.author !== undefined }],
  note: [writtenJson(noteShape), (entry) => entry.note!, { when: (entry) => entry.note !== null }],
});
