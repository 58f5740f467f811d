import { Inject, Injectable } from '@nestjs/common';
import type { ImportedObject, UnimportedObject } from '@rookery/contracts';
import type { ProjectFacts } from '@rookery/directory';
import { GitError, mergeBase } from '@rookery/git';
import type { Repository } from '@rookery/git';
import { Database, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import {
  addImportedObjects,
  checkImportObjects,
  findImportedObjectIds,
  omitAlreadyImportedObjects,
} from '../../../base/imported-objects/imported-objects';
import type { CheckedObject } from '../../../base/imported-objects/imported-objects';
import { ObjectImporters } from '../../../base/imported-objects/object-importers';
import type { ObjectImporter, PreparedObjects, ReceivedObjects } from '../../../base/imported-objects/object-importers';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import { toImportedNoteBody, sortImportedNotesByTime } from '../../../talk/notes/imported-notes';
import { insertImportedNotes, NoteCapacity, reserveNoteIds } from '../../../talk/notes/imported-note-rows';
import type { ImportedNoteRow, NotesImport } from '../../../talk/notes/imported-note-rows';
import { notesSettings } from '../../../talk/notes/notes.config';
import type { NotesSettings } from '../../../talk/notes/notes.config';
import type { NewThread } from '../../../talk/notes/positions/code-reviews';
import { insertNotePosition, replaceSuggestions } from '../../../talk/notes/positions/position-rows';
import { mergeRequestKind } from '../merge-request.kind';
import { resolveFullCommitId } from './imported-branches';
import { followPositionToHead, readSuggestions } from '../reviews/diff-threads';
import type { ReviewedRow } from '../reviews/diff-threads';
import { findDiffLinePosition } from '../reviews/place-in-diff';

type ImportedDiffNote = ImportedObject<'diff_note'>;

const REVIEWED = statement<{ ids: readonly number[] }, ReviewedRow>(
  'merge_requests_reviewed_imported',
  'select id, head_sha, base_sha, start_sha from merge_requests where id = any(:ids::bigint[])',
);
const THREADS = statement<{ ids: readonly number[] }, { id: number; thread_id: number; noteable_id: number }>(
  'notes_imported_threads',
  'select id, thread_id, noteable_id from notes where id = any(:ids::bigint[]) and thread_id is not null',
);

/** Time for the places of a batch; comments beyond it become threads that name their place. Units: ms. */
const PLACING_MS = 25_000;

/** Places of new threads by the upstream ids of their first notes. A note without a place is not in the diff. */
type NewThreadsByUpstreamId = ReadonlyMap<number, NewThread>;

/** A note that starts a thread or joins one. */
interface DiffNoteWithThread {
  readonly row: ImportedNoteRow;
  readonly upstreamId: number;
  readonly thread: NewThread | null;
}

/**
 * Adds comments on lines of imported merge requests, as threads at their places in the diff. A comment whose place is not
 * in the diff becomes a thread that names the place in its text. Publishes no event.
 * Source: reference identity-and-import 6.6.
 */
@Injectable()
export class DiffNoteImports implements ObjectImporter<'diff_note'> {
  constructor(
    importers: ObjectImporters,
    private readonly repositories: ProjectRepositories,
    private readonly database: Database,
    @Inject(notesSettings.token) private readonly settings: NotesSettings,
  ) {
    importers.declare('diff_note', this);
  }

  /** Finds the places of threads, before the transaction that writes them. Errors: Unavailable, TooLarge. */
  async prepare(
    project: ProjectFacts,
    { importType: source, objects }: ReceivedObjects<'diff_note'>,
  ): Promise<PreparedObjects> {
    const places = await this.prepareThreads(project, objects);
    const mostComments = this.settings.commentsPerNoteable;
    const on = { kind: mergeRequestKind, on: 'merge_request', projectId: project.id, source, mostComments } as const;
    return { write: (tx) => writeDiffNotes(tx, on, places, objects) };
  }

  private async prepareThreads(
    project: ProjectFacts,
    objects: readonly ImportedDiffNote[],
  ): Promise<NewThreadsByUpstreamId> {
    const ids = objects.map(({ id }) => id);
    const known = await findImportedObjectIds(this.database, { project: project.id, kind: 'diff_note' }, ids);
    const first = objects.filter((one) => one.reply_to === null && !known.has(one.id));
    const numbers = first.map((one) => one.merge_request);
    const requests = await findImportedObjectIds(
      this.database,
      { project: project.id, kind: 'merge_request' },
      numbers,
    );
    const rows = await this.database.run(REVIEWED, { ids: [...requests.values()] });
    const reviewed = new Map(rows.map((row) => [row.id, row]));
    if (reviewed.size === 0) return new Map();
    return this.repositories.useRepository(project, async (repository) => {
      const places = new Map<number, NewThread>();
      const until = Date.now() + PLACING_MS;
      for (const given of first) {
        if (Date.now() > until) break;
        const row = reviewed.get(requests.get(given.merge_request) ?? 0);
        const place = row ? await prepareThread(repository, row, given).catch(returnNullIfDiffTooLarge) : null;
        if (place) places.set(given.id, place);
      }
      return places;
    });
  }
}

/** Returns null for a diff that is too large for git; the thread then only names its place. Errors: all others. */
function returnNullIfDiffTooLarge(error: unknown): null {
  if (error instanceof GitError && (error.reason === 'too large' || error.reason === 'timed out')) return null;
  throw error;
}

/** Prepares the thread of a note. Returns null for a place that is not in the diff of its commits. */
async function prepareThread(
  repository: Repository,
  row: ReviewedRow,
  given: ImportedDiffNote,
): Promise<NewThread | null> {
  const shas = await findDiffCommitsOfImportedNote(repository, row, given.commit_id);
  if (shas === null) return null;
  const found = await findDiffLinePosition(repository, shas, given);
  if (found === null) return null;
  const position = await followPositionToHead(repository, row, found);
  return { position, suggestions: await readSuggestions(repository, position.shown, position.newPath, given.body) };
}

/** Commits of the diff that shows a comment. Returns null if the repository lacks one of them. */
async function findDiffCommitsOfImportedNote(
  repository: Repository,
  { head_sha: head, base_sha: base, start_sha: start }: ReviewedRow,
  commitSha: string,
) {
  if (head === null || base === null || start === null) return null;
  const commit = commitSha === head ? head : await resolveFullCommitId(repository, commitSha);
  if (commit === head) return { baseSha: base, startSha: start, headSha: head };
  const own = commit === null ? null : await mergeBase(repository, [start, commit]);
  return own === null ? null : { baseSha: own, startSha: start, headSha: commit! };
}

async function writeDiffNotes(
  tx: Tx,
  notes: NotesImport,
  places: NewThreadsByUpstreamId,
  objects: readonly ImportedDiffNote[],
): Promise<readonly UnimportedObject[]> {
  const of = { project: notes.projectId, kind: 'diff_note' } as const;
  const { valid, failed } = checkImportObjects(objects, (given) => ({
    ...given,
    body: renderDiffNoteBody(given, places.has(given.id)),
  }));
  const found = sortImportedNotesByTime(await omitAlreadyImportedObjects(tx, of, valid, ({ id }) => id));
  const numbers = found.map(({ object }) => object.merge_request);
  const requests = await findImportedObjectIds(tx, { project: notes.projectId, kind: 'merge_request' }, numbers);
  const room = await NoteCapacity.lockNoteables(tx, notes, [...requests.values()]);
  const problems: UnimportedObject[] = [];
  const added = found.filter(({ index, object }) => {
    const message = room.takePlace(requests.get(object.merge_request));
    if (message !== null) problems.push({ index, message });
    return message === null;
  });
  const placed = await assignIdsAndThreadsToNotes(tx, { of, requests, places }, added);
  await insertImportedNotes(
    tx,
    notes,
    placed.map(({ row }) => row),
  );
  await addImportedObjects(
    tx,
    of,
    placed.map(({ row, upstreamId }) => ({ upstreamId, id: row.id })),
  );
  for (const { row, thread } of placed) {
    if (thread === null) continue;
    const on = { threadId: row.id, noteableType: mergeRequestKind.type, noteableId: row.noteable_id };
    await insertNotePosition(tx, on, thread.position);
    await replaceSuggestions(tx, row.id, thread.suggestions);
  }
  return [...failed, ...problems];
}

/** Gives notes their ids and threads. A reply whose thread was not imported starts one. */
async function assignIdsAndThreadsToNotes(
  tx: Tx,
  { of, requests, places }: ThreadAssignmentFacts,
  added: readonly CheckedObject<ImportedDiffNote>[],
): Promise<readonly DiffNoteWithThread[]> {
  const ids = await reserveNoteIds(tx, added.length);
  const answered = await findImportedObjectIds(
    tx,
    of,
    added.flatMap(({ object }) => object.reply_to ?? []),
  );
  const rows = await tx.run(THREADS, { ids: [...answered.values()] });
  const threads = new Map(rows.map((row) => [row.id, row]));
  const started = new Map<number, { readonly thread_id: number; readonly noteable_id: number }>();
  return added.map(({ object }, at): DiffNoteWithThread => {
    const { author_id, body, created_at, updated_at, reply_to: replyTo } = object;
    const [id, noteable_id] = [ids[at]!, requests.get(object.merge_request)!];
    const wanted = replyTo === null ? undefined : (started.get(replyTo) ?? threads.get(answered.get(replyTo) ?? 0));
    const thread = wanted?.noteable_id === noteable_id ? wanted : undefined;
    const thread_id = thread?.thread_id ?? id;
    started.set(object.id, { thread_id, noteable_id });
    const row = { id, noteable_id, author_id, body, thread_id, is_reply: thread !== undefined, created_at, updated_at };
    return { row, upstreamId: object.id, thread: thread === undefined ? (places.get(object.id) ?? null) : null };
  });
}

interface ThreadAssignmentFacts {
  readonly of: { readonly project: number; readonly kind: 'diff_note' };
  readonly requests: ReadonlyMap<number, number>;
  readonly places: NewThreadsByUpstreamId;
}

/** A comment whose place is not in the diff names it. Errors: Invalid. */
function renderDiffNoteBody({ body, path, line, reply_to: replyTo }: ImportedDiffNote, hasPlace: boolean): string {
  if (hasPlace || replyTo !== null) return toImportedNoteBody(body);
  const place = `\`${path.replace(/[`\p{C}]/gu, '')}\`${line === null ? '' : `, line ${line}`}`;
  return toImportedNoteBody(`*On ${place}*\n\n${body}`);
}
