import { Inject, Injectable } from '@nestjs/common';
import type { JsonPage, PageRequest, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { SqlReader, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { NoteableKinds } from '../../../base/noteables/noteable-kinds';
import { createNoteableNotFound, cachePerNoteableKindAndColumn } from '../../../base/noteables/reader';
import type { NoteableReference } from '../../../base/noteables/reader';
import { toNoteReaderParams } from '../notes.queries';
import { runReferringStatementIfNeeded } from '../reference-statements';
import { DiscussionStatements } from './discussions.statements';

const NO_DISCUSSIONS: JsonPage = { json: '[]', total: 0, hasNext: false };

/**
 * Queries for discussions, with one statement per request. `key` is the id of the note that started the discussion.
 * Source: reference work-tracking 3.1.
 */
@Injectable()
export class DiscussionsQueries {
  readonly statementsOf: (on: Pick<NoteableReference, 'kind' | 'by'>) => DiscussionStatements;
  private readonly referringOf: (on: Pick<NoteableReference, 'kind' | 'by'>) => DiscussionStatements;

  constructor(
    private readonly database: Database,
    kinds: NoteableKinds,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.statementsOf = cachePerNoteableKindAndColumn((kind, by) => new DiscussionStatements(kind, externalUrl, by));
    this.referringOf = cachePerNoteableKindAndColumn(
      (kind, by) => new DiscussionStatements(kind, externalUrl, by, kinds.all),
    );
  }

  async list(viewer: Viewer, on: NoteableReference, page: PageRequest): Promise<JsonPage> {
    const values = toNoteReaderParams(viewer, on);
    const row = await this.findRow(this.database, on, (statements) => statements.pageStatement(page, values));
    if (!row && on.isUntouched) return NO_DISCUSSIONS;
    if (!row) throw new NotFound(on.kind.resource);
    return jsonPageOf(page, { ...row, has_more: null });
  }

  /** Returns a discussion as JSON text. Errors: NotFound. */
  findDiscussion(
    viewer: Viewer,
    on: NoteableReference,
    key: number,
    reads: SqlReader = this.database,
  ): Promise<string> {
    return this.findDiscussionJson(reads, viewer, on, { of: 'one', key, resource: 'Discussion' });
  }

  /** Returns the notes of a discussion as the text of a JSON array. Errors: NotFound. */
  listNotes(viewer: Viewer, on: NoteableReference, key: number): Promise<string> {
    return this.findDiscussionJson(this.database, viewer, on, { of: 'notes', key, resource: 'Notes' });
  }

  /** Returns a note of a discussion as JSON text. Errors: NotFound. */
  async findNote(viewer: Viewer, on: NoteableReference, key: number, noteId: number): Promise<string> {
    const values = { ...toNoteReaderParams(viewer, on), discussion: key, note: noteId };
    const row = await this.findRow(this.database, on, (statements) => statements.statement('note', values));
    if (!row) throw createNoteableNotFound(on, 'Discussion');
    if (row.head === null) throw new NotFound('Discussion');
    if (row.json === null) throw new NotFound();
    return row.json;
  }

  private async findDiscussionJson(
    reads: SqlReader,
    viewer: Viewer,
    on: NoteableReference,
    { of, key, resource }: { readonly of: 'one' | 'notes'; readonly key: number; readonly resource: string },
  ): Promise<string> {
    const values = { ...toNoteReaderParams(viewer, on), discussion: key };
    const row = await this.findRow(reads, on, (statements) => statements.statement(of, values));
    if (!row) throw createNoteableNotFound(on, resource);
    if (row.json === null) throw new NotFound(resource);
    return row.json;
  }

  private findRow<R extends { readonly json: string | null }>(
    reads: SqlReader,
    on: NoteableReference,
    statement: (statements: DiscussionStatements) => Statement<R>,
  ): Promise<R | undefined> {
    const both = { plain: this.statementsOf(on), referring: this.referringOf(on) };
    return runReferringStatementIfNeeded<DiscussionStatements, R>(reads, both, statement);
  }
}
