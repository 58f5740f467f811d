import type { ObjectId } from '@rookery/git';
import { statement } from '@rookery/persistence';
import { suggestionShape } from '../../../talk/notes/positions/suggestion.shape';
import type { PositionFields } from '../../../talk/notes/positions/position-rows';
import type { MergeRequestState } from '../merge-request.entity';

/** A suggestion with its thread and its merge request. */
export interface SuggestionRow {
  readonly id: number;
  readonly lines_above: number;
  readonly lines_below: number;
  readonly from_content: string;
  readonly to_content: string;
  readonly is_outdated: boolean;
  readonly commit_id: ObjectId | null;
  readonly author_id: number;
  /** It belongs to an internal note. */
  readonly internal: boolean;
  readonly thread_id: number;
  readonly shown: PositionFields;
  readonly new_path: string;
  readonly is_active: boolean;
  readonly project_id: number;
  readonly source_project_id: number | null;
  readonly state: MergeRequestState;
  readonly source_branch: string;
}

const OF_THREADS = `suggestions s join notes n on n.id = s.note_id join note_positions p on p.thread_id = n.thread_id
  join unnest(:ids::bigint[]) with ordinality as wanted (id, place) on wanted.id = s.id`;

/** Suggestions in the order of their ids in the request. */
export const suggestionRows = statement<{ ids: readonly number[] }, SuggestionRow>(
  'suggestions_to_apply',
  `select s.id, s.lines_above, s.lines_below, s.from_content, s.to_content, s.is_outdated, s.commit_id, n.author_id,
     n.internal, n.thread_id, p.shown, p.new_path, p.is_active, i.project_id, i.source_project_id, i.state, i.source_branch
   from ${OF_THREADS} join merge_requests i on i.id = n.noteable_id and n.noteable_type = 'MergeRequest'
   order by wanted.place`,
);

export const suggestionsJson = statement<{ ids: readonly number[] }, { readonly json: string }>(
  'suggestions_json',
  () => `select ${suggestionShape.toSql(undefined).sql} as json from ${OF_THREADS} order by wanted.place`,
);
