import { ExactlyOneOf, Flag, HashOf, Int, OneOf, Text } from '@rookery/api-v4';
import { CreateNote, toNewNote, IdentifyNote } from '../notes.dto';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { NewNote } from '../notes.service';
import type { RequestedLine, RequestedPosition } from '../positions/code-reviews';
import { POSITION_TYPES } from '../positions/note-position.entity';

/** Parameters of one discussion. The id has 40 hex digits; other values find nothing. */
export class IdentifyDiscussion {
  @Text({ max: 100 }) discussion_id: string;
}

export class UpdateDiscussion extends IdentifyDiscussion {
  @Flag() resolved: boolean;
}

export class CreateReply extends CreateNote {
  @Text({ max: 100 }) discussion_id: string;
}

export class IdentifyReply extends IdentifyNote {
  @Text({ max: 100 }) discussion_id: string;
}

@ExactlyOneOf('body', 'resolved')
export class UpdateReply extends IdentifyReply {
  @Text({ optional: true, about: 'At most 1,000,000 characters of Markdown.' }) body?: string;
  @Flag({ optional: true }) resolved?: boolean;
}

const LINE_CODE = /^[a-z0-9]+_\d+_\d+$/;
const SHA_LENGTH = 64;
const PATH_LENGTH = 4096;

/** First or last line of a range. */
class SetPositionLine {
  @Text({ optional: true, max: 200, pattern: LINE_CODE, about: 'Digest of the path, and both line numbers.' })
  line_code?: string;
  @OneOf(['new', 'old', 'expanded'], { optional: true, about: 'Side of the diff.' }) type?: 'new' | 'old' | 'expanded';
  @Int({ optional: true, min: 1 }) old_line?: number;
  @Int({ optional: true, min: 1 }) new_line?: number;
}

/** Lines of a thread about several lines. */
class SetPositionRange {
  @HashOf(() => SetPositionLine) start: SetPositionLine;
  @HashOf(() => SetPositionLine, { about: 'Line at which the thread is shown.' }) end: SetPositionLine;
}

/** Place in a diff. Source: reference repositories 8.11. */
export class SetPosition {
  @Text({ max: SHA_LENGTH, about: 'Commit of the old side.' }) base_sha: string;
  @Text({ max: SHA_LENGTH, about: 'Commit of the target branch.' }) start_sha: string;
  @Text({ max: SHA_LENGTH, about: 'Commit of the new side.' }) head_sha: string;
  @OneOf(POSITION_TYPES) position_type: (typeof POSITION_TYPES)[number];
  @Text({ optional: true, max: PATH_LENGTH, about: 'Path of the file before the change.' }) old_path?: string;
  @Text({ optional: true, max: PATH_LENGTH, about: 'Path of the file after the change.' }) new_path?: string;
  @Int({ optional: true, min: 1, about: 'For removed and unchanged lines.' }) old_line?: number;
  @Int({ optional: true, min: 1, about: 'For added and unchanged lines.' }) new_line?: number;
  @HashOf(() => SetPositionRange, { optional: true }) line_range?: SetPositionRange;
  @Int({ optional: true, about: 'Of the image.' }) width?: number;
  @Int({ optional: true, about: 'Of the image.' }) height?: number;
  @Int({ optional: true }) x?: number;
  @Int({ optional: true }) y?: number;
}

/** Parameters of a thread on a kind with diff threads. */
class CreateThreadWithPosition extends CreateNote {
  @HashOf(() => SetPosition, { optional: true, about: 'Place in the diff. Default: none.' }) position?: SetPosition;
}

/** Creates a thread in the diff of a noteable that has several commits. */
export class CreateDiffThread extends CreateThreadWithPosition {
  @Text({ optional: true, about: 'Full id of the commit that the thread is about.' }) commit_id?: string;
}

/** Returns the parameters of a new thread on a kind; the others are absent. */
export function threadParamsOf({ abilities }: NoteableKind): new () => CreateDiffThread {
  if (abilities.includes('suggestions')) return CreateDiffThread;
  return abilities.includes('diff-threads') ? CreateThreadWithPosition : CreateNote;
}

/** Converts the parameters of a new thread. */
export function toNewThread(
  kind: NoteableKind,
  { position, commit_id: commitId, ...params }: CreateDiffThread,
): NewNote {
  const newNote = toNewNote(kind, params);
  return position
    ? { ...newNote, place: { position: toRequestedPosition(position), commitId: commitId ?? null } }
    : newNote;
}

/** Converts the parameters of a place. */
export function toRequestedPosition(params: SetPosition): RequestedPosition {
  const { line_range: range } = params;
  return {
    ...{ baseSha: params.base_sha, startSha: params.start_sha, headSha: params.head_sha, type: params.position_type },
    // A blank path is none.
    ...{ oldPath: params.old_path || null, newPath: params.new_path || null },
    ...{ oldLine: params.old_line ?? null, newLine: params.new_line ?? null },
    lineRange: range ? { start: toRequestedLine(range.start), end: toRequestedLine(range.end) } : null,
    ...{ width: params.width ?? null, height: params.height ?? null, x: params.x ?? null, y: params.y ?? null },
  };
}

function toRequestedLine({ line_code, type, old_line, new_line }: SetPositionLine): RequestedLine {
  return {
    line_code: line_code ?? null,
    type: type ?? null,
    old_line: old_line ?? null,
    new_line: new_line ?? null,
  };
}
