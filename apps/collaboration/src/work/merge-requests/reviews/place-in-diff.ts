import { isObjectId, listChangedFiles, objectInfo, readHunks } from '@rookery/git';
import type { FileHunks, ObjectId, Repository } from '@rookery/git';
import { Refused } from '@rookery/kernel';
import type { RequestedLine, RequestedPosition } from '../../../talk/notes/positions/code-reviews';
import type { NewPosition } from '../../../talk/notes/positions/position-rows';
import { readLines } from '../suggestions/line-content';
import { computeLineCodeCounters, composeDiffLineCode, toDiffLine } from './diff-lines';
import type { DiffLine } from './diff-lines';
import { toShownPosition } from './shown-position';
import type { DiffShas } from './shown-position';

/** Checks a place against the diff of its commits. Errors: Refused. */
export async function requireDiffPosition(
  repository: Repository,
  position: RequestedPosition,
  commitId: ObjectId | null,
): Promise<NewPosition> {
  const { baseSha, startSha, headSha } = position;
  for (const sha of [baseSha, startSha, headSha])
    if (!(await isCommit(repository, sha))) throw createIncompletePositionRefusal();
  return requireFoundPosition(await findDiffPosition(repository, position, commitId));
}

/** Returns a place that was found. Errors: Refused if it was not. */
export function requireFoundPosition(place: NewPosition | null): NewPosition {
  if (place === null) throw createInvalidLineCodeRefusal();
  return place;
}

/**
 * Finds a place in the diff of its commits, which exist. Returns null if the diff has no such file or line; the base
 * may be the empty tree.
 */
export async function findDiffPosition(
  repository: Repository,
  position: RequestedPosition,
  commitId: ObjectId | null,
): Promise<NewPosition | null> {
  const file = await findChangedFile(repository, position);
  return file ? placeThreadInFile(repository, file, position, commitId) : null;
}

/** A line of one side of a diff, of which the number on the other side is not known. */
export interface OneSidedLine {
  readonly path: string;
  readonly side: 'old' | 'new';
  /** Null for the whole file. */
  readonly line: number | null;
  /** First line of a range; null for one line. */
  readonly start_line: number | null;
}

/** Finds the place of a line in the diff of commits, which exist. Returns null if the diff has no such file or line. */
export async function findDiffLinePosition(
  repository: Repository,
  shas: DiffShas,
  { path, side, line, start_line: startLine }: OneSidedLine,
): Promise<NewPosition | null> {
  const none = { oldLine: null, newLine: null, lineRange: null, width: null, height: null, x: null, y: null };
  const whole = { ...shas, ...none, type: 'file', oldPath: path, newPath: path } as const;
  const file = await findChangedFile(repository, whole);
  if (!file) return null;
  const { oldPath, newPath } = file.change;
  const sent = { ...whole, oldPath, newPath };
  if (line === null) return placeThreadInFile(repository, file, sent, null);
  const [end, start] = [line, startLine].map((one) => (one === null ? null : toDiffLine(file.hunks, side, one)));
  const lineRange = start && end ? { start: toRangeLine(file, start), end: toRangeLine(file, end) } : null;
  return placeThreadInFile(repository, file, { ...sent, ...end, type: 'text', lineRange }, null);
}

function toRangeLine({ hunks, change }: FileHunks, line: DiffLine): RequestedLine {
  const counters = computeLineCodeCounters(hunks, line);
  return {
    line_code: counters && composeDiffLineCode(change.newPath, counters),
    type: line.oldLine === null ? 'new' : line.newLine === null ? 'old' : null,
    ...{ old_line: line.oldLine, new_line: line.newLine },
  };
}

async function placeThreadInFile(
  repository: Repository,
  file: FileHunks,
  position: RequestedPosition,
  commitId: ObjectId | null,
): Promise<NewPosition | null> {
  const { oldPath, newPath } = file.change;
  const shown = toShownPosition(position);
  const common = { shown, original: shown, commitId, oldPath, newPath, isActive: true };
  if (position.type !== 'text') return { ...common, lineCode: null };
  const counters = computeLineCodeCounters(file.hunks, position);
  if (counters === null || !(await isLineInFile(repository, position, newPath))) return null;
  return { ...common, lineCode: composeDiffLineCode(newPath, counters) };
}

async function isCommit(repository: Repository, sha: string): Promise<boolean> {
  return isObjectId(sha) && (await objectInfo(repository, { rev: sha }))?.type === 'commit';
}

/** Finds a changed file by its new path, or by the old one. */
async function findChangedFile(
  repository: Repository,
  { baseSha, headSha, oldPath, newPath }: RequestedPosition,
): Promise<FileHunks | undefined> {
  const sides = { oldId: baseSha as ObjectId, newId: headSha as ObjectId };
  const changes = await listChangedFiles(repository, sides);
  const change =
    changes.find((one) => newPath !== null && (one.newPath === newPath || one.oldPath === newPath)) ??
    changes.find((one) => oldPath !== null && (one.oldPath === oldPath || one.newPath === oldPath));
  if (!change) return undefined;
  const paths = [...new Set([change.oldPath, change.newPath])];
  const files = await readHunks(repository, { ...sides, paths });
  return files.find((one) => one.change.newPath === change.newPath && one.change.status === change.status);
}

/** The lines of hunks exist; of the others it is not known yet. */
async function isLineInFile(
  repository: Repository,
  { headSha, oldLine, newLine }: RequestedPosition,
  newPath: string,
): Promise<boolean> {
  if (oldLine === null || newLine === null) return true;
  const lines = await readLines(repository, headSha as ObjectId, newPath);
  return lines !== null && newLine <= lines.length;
}

function createIncompletePositionRefusal(): Refused {
  return new Refused('Note {:position=>["is incomplete"]}');
}

function createInvalidLineCodeRefusal(): Refused {
  return new Refused(`Note {:line_code=>["can't be blank", "must be a valid line code"]}`);
}
