import { bool, int, nullable, object, presenter, text } from '@rookery/api-v4';
import type { RequestedRange } from '../../../talk/notes/positions/code-reviews';
import type { PositionFields } from '../../../talk/notes/positions/position-rows';
import type { DraftRow } from './draft-notes.queries';

const line = nullable(int);
const rangeEnd = object({ line_code: nullable(text), type: nullable(text), old_line: line, new_line: line });
const position = object(
  { base_sha: nullable(text), start_sha: nullable(text), head_sha: nullable(text) },
  {
    old_path: nullable(text),
    new_path: nullable(text),
    position_type: text,
    old_line: line,
    new_line: line,
    line_range: nullable(object({ start: rangeEnd, end: rangeEnd })),
    width: line,
    height: line,
    x: line,
    y: line,
  },
);
type DraftPosition = Omit<PositionFields, 'line_range'> & { readonly line_range?: RequestedRange | null };

/** Drafts without a place have an empty one. */
const NO_POSITION = {
  ...{ base_sha: null, start_sha: null, head_sha: null, old_path: null, new_path: null, position_type: 'text' },
  ...{ old_line: null, new_line: null, line_range: null },
};

/** JSON of a draft note of a merge request. Source: reference repositories 8.15. */
export const draftNotePresenter = presenter<DraftRow>('DraftNote').fields({
  id: [int, (row) => row.id],
  author_id: [int, (row) => row.author_id],
  merge_request_id: [int, (row) => row.merge_request_id],
  resolve_discussion: [bool, (row) => row.resolves, { about: 'Whether publishing resolves the discussion.' }],
  discussion_id: [nullable(text), (row) => row.discussion_id, { about: 'Discussion that it answers.' }],
  note: [text, (row) => row.body, { about: 'Text of the note.' }],
  commit_id: [nullable(text), (row) => row.commit_id],
  line_code: [nullable(text), (row) => row.line_code],
  position: [position, (row) => (row.position ?? NO_POSITION) as DraftPosition, { about: 'Place in the diff.' }],
});
