import { json, beginJsonShape } from '../../../base/noteables/json.shape';

/** Line of the thread `p` in its new file. */
const LINE = `(p.shown->>'new_line')::integer`;

/**
 * Boolean SQL: can the suggestion `s` of the thread `p` be applied? A merge request is closed when
 * its source branch is deleted. Source: reference repositories 8.13.
 */
const IS_APPLIABLE = `s.commit_id is null and p.is_active and not s.is_outdated
  and exists (select 1 from merge_requests open where open.id = p.noteable_id and open.state = 'opened')
  and s.from_content <> s.to_content and p.new_path not like '%ipynb'`;

/**
 * A suggestion. The SQL uses the aliases `s` (suggestions) and `p` (note_positions of its thread).
 * Source: requirements 1 §2 Suggestion; reference repositories 8.13.
 */
export const suggestionShape = beginJsonShape<unknown>('Suggestion').fields({
  id: [json.int, () => 's.id'],
  from_line: [json.int, () => `greatest(1, ${LINE} - s.lines_above)`],
  to_line: [json.int, () => `${LINE} + s.lines_below`],
  appliable: [json.bool, () => IS_APPLIABLE],
  applicable: [json.bool, () => IS_APPLIABLE],
  applied: [json.bool, () => 's.commit_id is not null'],
  from_content: [json.text, () => 's.from_content'],
  to_content: [json.text, () => 's.to_content'],
});
