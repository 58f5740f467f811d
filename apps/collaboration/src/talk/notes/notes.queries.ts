import { Inject, Injectable } from '@nestjs/common';
import type { JsonPage, PageRequest, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { SqlReader, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { NoteableKinds } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { cachePerNoteableKindAndColumn, requireNoteableReader, canReadFeature } from '../../base/noteables/reader';
import type { NoteableReference } from '../../base/noteables/reader';
import type { ReaderParams } from './note-statement';
import { NoteStatements } from './notes.statements';
import type { NoteOrder } from './notes.statements';
import { runReferringStatementIfNeeded } from './reference-statements';

/** Queries for notes, with one statement per request. Source: docs/performance.md 2. */
@Injectable()
export class NotesQueries {
  readonly statementsOf: (on: Pick<NoteableReference, 'kind' | 'by'>) => NoteStatements;
  private readonly referringOf: (on: Pick<NoteableReference, 'kind' | 'by'>) => NoteStatements;

  constructor(
    private readonly database: Database,
    kinds: NoteableKinds,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.statementsOf = cachePerNoteableKindAndColumn((kind, by) => new NoteStatements(kind, externalUrl, by));
    this.referringOf = cachePerNoteableKindAndColumn(
      (kind, by) => new NoteStatements(kind, externalUrl, by, kinds.all),
    );
  }

  /** Page of notes. Its totals come from the noteable's counters of the notes that the viewer may see. */
  async list(viewer: Viewer, on: NoteableReference, order: NoteOrder, page: PageRequest): Promise<JsonPage> {
    const values = toNoteReaderParams(viewer, on);
    const row = await this.findRow(this.database, on, (statements) => statements.pageStatement(order, page, values));
    if (!row) throw new NotFound(on.kind.resource);
    const total =
      (order.activity === 'only_activity' ? 0 : row.comments) + (order.activity === 'only_comments' ? 0 : row.activity);
    return jsonPageOf(page, { counted: total, has_more: null, json: row.json });
  }

  /** Returns a note as JSON text. */
  async findNote(
    viewer: Viewer,
    on: NoteableReference,
    noteId: number,
    reads: SqlReader = this.database,
  ): Promise<string> {
    const values = { ...toNoteReaderParams(viewer, on), note: noteId };
    const row = await this.findRow(reads, on, (statements) => statements.statement('one', values));
    return requireVisibleNote(row, on.kind).json;
  }

  private findRow<R extends { readonly json: string | null }>(
    reads: SqlReader,
    on: NoteableReference,
    statement: (statements: NoteStatements) => Statement<R>,
  ): Promise<R | undefined> {
    const both = { plain: this.statementsOf(on), referring: this.referringOf(on) };
    return runReferringStatementIfNeeded<NoteStatements, R>(reads, both, statement);
  }
}

/**
 * Returns the parameters of the reader for statements on notes.
 * Errors: NotFound for the noteable if the reader has no access to its kind in the project.
 */
export function toNoteReaderParams(viewer: Viewer, on: NoteableReference): ReaderParams {
  const reader = requireNoteableReader(viewer, on);
  const { viewerId, isMember, readsConfidential, readsInternal, isAdmin } = reader;
  return {
    parent: on.parent.id,
    named: on.named,
    viewer: viewerId,
    is_member: isMember,
    reads_confidential: readsConfidential,
    reads_internal: readsInternal,
    is_admin: isAdmin,
    reads_code: canReadFeature('code', on.parent, reader),
  };
}

/**
 * Checks that a row holds a visible note. Errors: NotFound, with different messages for a missing and a hidden note.
 * Source: reference work-tracking 2.3.
 */
export function requireVisibleNote<R extends { readonly id: number | null; readonly hidden: boolean }>(
  row: R | undefined,
  kind: NoteableKind,
): R & { readonly id: number } {
  if (!row) throw new NotFound(kind.resource);
  if (row.id === null) throw new NotFound();
  if (row.hidden) throw new NotFound('Note');
  return row as R & { readonly id: number };
}
