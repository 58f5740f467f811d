import { Inject, Injectable } from '@nestjs/common';
import type { JsonPage, PageRequest, Viewer } from '@rookery/kernel';
import { COUNT_LIMIT, NotFound } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { ISSUE } from '../noteables/noteable-kinds';
import { readerOf } from '../noteables/reader';
import type { ParentFacts, Reader } from '../noteables/reader';
import { NoteStatements } from './notes.statements';
import type { NoteOrder } from './notes.statements';

/** Reading notes: one statement a request. Source: performance R1, R2. */
@Injectable()
export class NotesQueries {
  readonly statements: NoteStatements;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    this.statements = new NoteStatements(ISSUE, platform.externalUrl);
  }

  /** Totals come from the noteable's counters, as many as the viewer may see. */
  async page(
    viewer: Viewer,
    project: ParentFacts,
    iid: number,
    order: NoteOrder,
    page: PageRequest,
  ): Promise<JsonPage> {
    const reader = readsIssues(readerOf(viewer, project));
    const { name, text } = this.statements.page(order, page);
    const values = readerValues(project.id, iid, reader);
    const [row] = name
      ? await this.database.prepared<PageRow>({ name, text }, values)
      : await this.database.query<PageRow>(text, values);
    if (!row) throw new NotFound(ISSUE.resource);
    const total =
      (order.activity === 'only_activity' ? 0 : row.comments) + (order.activity === 'only_comments' ? 0 : row.activity);
    return { json: row.json, total: total > COUNT_LIMIT ? null : total, hasNext: total > page.page * page.perPage };
  }

  /** Shape: one JSON object. */
  async one(viewer: Viewer, project: ParentFacts, iid: number, noteId: number): Promise<string> {
    const reader = readsIssues(readerOf(viewer, project));
    const [row] = await this.database.prepared<OneRow>(this.statements.one, [
      ...readerValues(project.id, iid, reader),
      noteId,
    ]);
    return foundNote(row).json;
  }
}

interface PageRow {
  readonly comments: number;
  readonly activity: number;
  readonly json: string;
}

interface OneRow {
  readonly id: number | null;
  readonly hidden: boolean;
  readonly json: string;
}

/** The first seven values of every statement on notes. */
export function readerValues(projectId: number, iid: number, reader: Reader): unknown[] {
  const { viewerId, isMember, readsConfidential, readsInternal, isAdmin } = reader;
  return [projectId, iid, viewerId, isMember, readsConfidential, readsInternal, isAdmin];
}

/** Errors: NotFound of the issue while the project shows none to this reader. */
export function readsIssues(reader: Reader): Reader {
  if (!reader.readsIssues) throw new NotFound(ISSUE.resource);
  return reader;
}

/** Errors: NotFound in the words that tell a strange note from a hidden one. Source: reference work-tracking 2.3. */
export function foundNote<R extends { readonly id: number | null; readonly hidden: boolean }>(
  row: R | undefined,
): R & { readonly id: number } {
  if (!row) throw new NotFound(ISSUE.resource);
  if (row.id === null) throw new NotFound();
  if (row.hidden) throw new NotFound('Note');
  return row as R & { readonly id: number };
}
