import { Injectable } from '@nestjs/common';
import type { NoteableType } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import type { NoteableReference } from '../../../base/noteables/reader';
import type { NewPosition, NewSuggestion } from './position-rows';

/** Position as a client sends it. Lines are counted from 1. Values that were not sent are null. */
export interface RequestedPosition {
  readonly baseSha: string;
  readonly startSha: string;
  readonly headSha: string;
  readonly type: 'text' | 'image' | 'file';
  readonly oldPath: string | null;
  readonly newPath: string | null;
  readonly oldLine: number | null;
  readonly newLine: number | null;
  readonly lineRange: RequestedRange | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly x: number | null;
  readonly y: number | null;
}

/** Lines of a thread about several lines. The thread itself is at the end. */
export interface RequestedRange {
  readonly start: RequestedLine;
  readonly end: RequestedLine;
}
export interface RequestedLine {
  readonly line_code: string | null;
  readonly type: 'new' | 'old' | 'expanded' | null;
  readonly old_line: number | null;
  readonly new_line: number | null;
}

/** A new diff thread whose place was checked against the repository. */
export interface NewThread {
  readonly position: NewPosition;
  readonly suggestions: readonly NewSuggestion[];
}

/** Note whose text was written: a reply in a thread, or a note that was edited. */
export type SuggestingNote = { readonly thread: number } | { readonly note: number };

/** Reads code for the notes on one kind of noteable, before their transaction. */
export interface CodeReview {
  /** Checks the place of a new thread. Errors: NotFound for the noteable; Refused for a place that is not in the diff. */
  open(
    viewer: SignedInViewer,
    on: NoteableWithParent,
    request: { readonly position: RequestedPosition; readonly commitId: string | null; readonly body: string },
  ): Promise<NewThread>;
  /** Returns the suggestions in the text of a note, or null if the note is in no diff thread. */
  suggest(
    viewer: SignedInViewer,
    on: NoteableReference,
    note: SuggestingNote,
    body: string,
  ): Promise<NewSuggestion[] | null>;
  /** Runs after the transaction of a new thread: the code may have changed meanwhile. */
  finish(on: NoteableWithParent): Promise<void>;
}

/** Reviews that wings with code declare for their kinds, because notes do not know repositories. */
@Injectable()
export class CodeReviews {
  private readonly reviews = new Map<NoteableType, CodeReview>();

  /** Adds the review of a kind at start-up. */
  declare(type: NoteableType, review: CodeReview): void {
    this.reviews.set(type, review);
  }

  /** Returns the code review of a kind. Returns null for kinds without code. */
  findReview({ kind }: Pick<NoteableReference, 'kind'>): CodeReview | null {
    return this.reviews.get(kind.type) ?? null;
  }
}
