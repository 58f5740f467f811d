import { Flag, Instant, Int, OneOf, Text } from '@rookery/api-v4';
import { assertAllUsed } from '@rookery/kernel';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import type { NewNote, NoteEdit } from './notes.service';
import type { NoteOrder } from './notes.statements';
import type { SignedInViewer } from '@rookery/kernel';
import type { BelowCall } from '../../base/noteables/noteable-routes.dto';
import { notePolicy } from './note.policy';

/** Parameters of the note routes, the same for every kind. The routes of a kind add the parameter for its noteable. */
export class IdentifyNote {
  @Int() note_id: number;
}

export class ListNotes {
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: NoteOrder['sort'];
  @OneOf(['created_at', 'updated_at'], { default: 'created_at' }) order_by: NoteOrder['orderBy'];
  @OneOf(['all_notes', 'only_comments', 'only_activity'], { default: 'all_notes' })
  activity_filter: NoteOrder['activity'];
}

export class CreateNote {
  @Text({ about: 'At most 1,000,000 characters of Markdown.' }) body: string;
  @Flag({ optional: true, about: 'Visible to reporters and higher roles only.' }) internal?: boolean;
  @Flag({ optional: true, deprecated: 'internal' }) confidential?: boolean;
  @Instant({
    optional: true,
    after: '1970-01-01T00:00:00Z',
    about: 'Only for administrators and owners; ignored for other users.',
  })
  created_at?: Date;
  @Text({
    optional: true,
    max: 64,
    about: 'For `/merge` on a merge request: the head that the caller knows. Merge requests only.',
  })
  merge_request_diff_head_sha?: string;
}

export class UpdateNote extends IdentifyNote {
  @Text({ optional: true, about: 'At most 1,000,000 characters of Markdown.' }) body?: string;
  @Flag({
    optional: true,
    hasNoEffect: true,
    deprecated: 'nothing: a note stays as internal or public as it was written',
  })
  confidential?: boolean;
}

/**
 * Whether an internal note is requested. `internal` wins when both are sent; both are ignored on kinds without internal
 * notes. Source: reference work-tracking 2.4.
 */
export function wantsInternal(
  kind: NoteableKind,
  { internal, confidential }: Pick<CreateNote, 'internal' | 'confidential'>,
): boolean {
  return kind.abilities.includes('internal-notes') && (internal ?? confidential ?? false);
}

/** Returns the rule that names the parameters without an effect in a new note on a kind, for a caller. */
export function createIgnoredNoteParamsRule(kind: NoteableKind) {
  const unoffered = [
    ...(kind.abilities.includes('internal-notes') ? [] : (['internal', 'confidential'] as const)),
    ...(kind.reviewers === undefined ? (['merge_request_diff_head_sha'] as const) : []),
  ];
  return ({ viewer, within }: BelowCall<CreateNote, SignedInViewer>) =>
    notePolicy.mayBackdate(viewer, within) ? unoffered : [...unoffered, 'created_at' as const];
}

/** Converts the parameters of a new note. */
export function toNewNote(kind: NoteableKind, params: CreateNote): NewNote {
  const { body, internal: _, confidential: __, created_at: createdAt = null, ...more } = params;
  const { merge_request_diff_head_sha: headSha, ...rest } = more;
  assertAllUsed(rest);
  return { body, internal: wantsInternal(kind, params), createdAt, headSha };
}

/** Converts the parameters of a note update. */
export function toNoteEdit({ note_id: _, ...params }: UpdateNote): NoteEdit {
  const { body, confidential, ...rest } = params;
  assertAllUsed(rest);
  return { body, sentConfidential: confidential !== undefined };
}
