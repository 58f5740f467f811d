import type { RowOf } from '@rookery/persistence';
import type { Note } from './note.entity';
import type { CountedRow } from './note-limit';

/** Values of every statement on the notes of a noteable. Shape: `named` is its id or iid, as the path names it. */
export interface ReaderParams {
  readonly parent: number;
  readonly named: number;
  readonly viewer: number | null;
  readonly is_member: boolean;
  readonly reads_confidential: boolean;
  readonly reads_internal: boolean;
  readonly is_admin: boolean;
}

/** Parameters of the reader, for the conditions of statements on a noteable. */
export const READER = {
  viewer: ':viewer::bigint',
  isMember: ':is_member::boolean',
  readsConfidential: ':reads_confidential::boolean',
};
export const READS_INTERNAL = ':reads_internal::boolean';
export const IS_ADMIN = ':is_admin::boolean';

/** A note that stands alone, one that begins a thread, or one that answers in one. */
export type NewNoteKind = 'create' | 'open' | 'reply';
/** Those that are counted on their noteable last, with the commit. */
export type CountedLast = Exclude<NewNoteKind, 'reply'>;

/** Values of a new note. */
export interface NewNoteParams extends ReaderParams {
  readonly body: string;
  /** An answer is as internal as its thread, whatever this is. */
  readonly internal: boolean;
  /** The note that begins the thread of an answer. */
  readonly thread: number | null;
  /** Null: now. */
  readonly created_at: Date | null;
  readonly most_comments: number;
}

/** Values of the limit of notes a minute. Shape: `most_notes` is null where the writer has no limit. */
interface LimitParams {
  readonly most_notes: number | null;
  readonly spender: number;
}

interface OneNoteParams extends ReaderParams {
  readonly note: number;
}

type Limited = NewNoteParams & LimitParams;
type CountedWithCommit = Limited & { readonly patience_ms: number };

/** Values of each statement. */
export type NoteParams = Readonly<Record<NewNoteKind, NewNoteParams>> &
  Readonly<Record<`${NewNoteKind}_counted` | `${CountedLast}_first`, Limited>> &
  Readonly<Record<'count' | 'count_limited', CountedWithCommit>> &
  Readonly<Record<'one' | 'subject', OneNoteParams>> & {
    readonly refusal: ReaderParams;
    readonly edit: OneNoteParams & { readonly body: string };
    readonly remove: { readonly note: number };
  };

/** Rows of each statement. */
export type NoteRows = Readonly<Record<NewNoteKind | `${CountedLast}_first`, NewNoteRow>> &
  Readonly<Record<`${NewNoteKind}_counted`, (NewNoteRow & CountedRow) | UncountedRow>> &
  Readonly<Record<'count' | 'count_limited', { readonly is_as_hoped: number } & Partial<CountedRow>>> & {
    readonly one: OneNoteRow;
    readonly subject: NoteSubject;
    readonly refusal: RefusalRow;
    readonly edit: { readonly changed_at: string; readonly json: string };
    readonly remove: { readonly id: number };
  };

export type NoteStatement = keyof NoteParams;

/** A page of notes, and how many the reader may see. */
export interface NotePageRow {
  readonly comments: number;
  readonly activity: number;
  readonly json: string | null;
}

/** Shape: `id` is null when the noteable has no such note; `hidden` when the reader may not see it. */
interface OneNoteRow {
  readonly id: number | null;
  readonly hidden: boolean;
  readonly json: string;
}

/** A note that is to be changed, its noteable locked. */
export interface NoteSubject extends RowOf<Note, 'authorId' | 'body' | 'system' | 'internal' | 'updatedAt'> {
  readonly noteable_id: number;
  readonly noteable_iid: number | null;
  readonly noteable_author_id: number;
  readonly discussion_id: number;
  readonly locked: boolean;
  readonly id: number | null;
  readonly hidden: boolean;
}

/** A note that was written. */
export interface NewNoteRow extends RowOf<Note, 'id' | 'internal'> {
  readonly noteable_id: number;
  readonly noteable_iid: number | null;
  readonly created_at: string;
  readonly json: string;
}

/** The noteable was touched, but the writer's minute was full. */
export interface UncountedRow {
  readonly id: null;
}

/** The reason why no note was written. */
interface RefusalRow {
  readonly locked: boolean;
  readonly comments: number;
}
