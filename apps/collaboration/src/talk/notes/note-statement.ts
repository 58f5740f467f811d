import type { RowOf } from '@rookery/persistence';
import type { Note } from './note.entity';
import type { CountedRow } from './note-limit';

/**
 * Parameters of every statement on the notes of a noteable. `named` is the id or iid of the noteable, as given in the
 * path.
 */
export interface ReaderParams {
  readonly parent: number;
  readonly named: number;
  readonly viewer: number | null;
  readonly is_member: boolean;
  readonly reads_confidential: boolean;
  readonly reads_internal: boolean;
  readonly is_admin: boolean;
  readonly reads_code: boolean;
}

/** SQL parameters of the reader, for the conditions of statements on a noteable. */
export const READER = {
  viewer: ':viewer::bigint',
  isMember: ':is_member::boolean',
  readsConfidential: ':reads_confidential::boolean',
};
export const READS_INTERNAL = ':reads_internal::boolean';
export const READS_CODE = ':reads_code::boolean';
export const IS_ADMIN = ':is_admin::boolean';

/** Kinds of new notes: an individual note, one that starts a thread, or a reply in a thread. */
export type NewNoteKind = 'create' | 'open' | 'reply';
/** Kinds of new notes whose counters can be updated last, together with the commit. */
export type CountedLast = Exclude<NewNoteKind, 'reply'>;

/** Parameters of a new note. */
export interface NewNoteParams extends ReaderParams {
  readonly body: string;
  /** Ignored for replies, which are internal if their thread is. */
  readonly internal: boolean;
  /** Id of the note that started the thread of a reply. */
  readonly thread: number | null;
  /** Null means now. */
  readonly created_at: Date | null;
  readonly most_comments: number;
}

/** Parameters of the limit of notes per minute. `most_notes` is null if the author has no limit. */
interface NoteLimitParams {
  readonly most_notes: number | null;
  readonly spender: number;
}

interface OneNoteParams extends ReaderParams {
  readonly note: number;
}

type LimitedNoteParams = NewNoteParams & NoteLimitParams;
type CountWithCommitParams = LimitedNoteParams & { readonly patience_ms: number };

/** Parameters of each statement. */
export type NoteParams = Readonly<Record<NewNoteKind, NewNoteParams>> &
  Readonly<Record<`${NewNoteKind}_counted` | `${CountedLast}_first`, LimitedNoteParams>> &
  Readonly<Record<'count' | 'count_limited', CountWithCommitParams>> &
  Readonly<Record<'one' | 'subject', OneNoteParams>> & {
    readonly refusal: ReaderParams;
    readonly edit: OneNoteParams & { readonly body: string };
    readonly remove: { readonly note: number };
  };

/** Rows of each statement. */
export type NoteRows = Readonly<Record<NewNoteKind | `${CountedLast}_first`, NewNoteRow>> &
  Readonly<Record<`${NewNoteKind}_counted`, (NewNoteRow & CountedRow) | LimitReachedRow>> &
  Readonly<Record<'count' | 'count_limited', { readonly is_as_hoped: number } & Partial<CountedRow>>> & {
    readonly one: OneNoteRow;
    readonly subject: NoteSubject;
    readonly refusal: RefusalRow;
    readonly edit: { readonly changed_at: string; readonly json: string };
    readonly remove: { readonly id: number };
  };

export type NoteStatement = keyof NoteParams;

/** Page of notes, with the number of comments and system notes that the reader may see. */
export interface NotePageRow {
  readonly comments: number;
  readonly activity: number;
  readonly json: string | null;
}

/** `id` is null when the noteable has no such note; `hidden` when the reader may not see it. */
interface OneNoteRow {
  readonly id: number | null;
  readonly hidden: boolean;
  readonly json: string;
}

/** Note to change, with facts of its noteable, which is locked. */
interface NoteSubject extends RowOf<Note, 'authorId' | 'body' | 'system' | 'internal' | 'updatedAt'> {
  readonly noteable_id: number;
  readonly noteable_iid: number | null;
  readonly noteable_author_id: number;
  readonly discussion_id: number;
  readonly locked: boolean;
  readonly id: number | null;
  readonly hidden: boolean;
}

/** Row that the statement returns for the note that it inserted. `json` is the note as the API answers it. */
export interface NewNoteRow extends RowOf<Note, 'id' | 'internal'> {
  readonly noteable_id: number;
  readonly noteable_iid: number | null;
  readonly created_at: string;
  readonly json: string;
}

/** Row if the noteable was updated but the author had reached the limit per minute. */
interface LimitReachedRow {
  readonly id: null;
}

/** Facts that explain why no note was written. */
interface RefusalRow {
  readonly locked: boolean;
  readonly comments: number;
}
