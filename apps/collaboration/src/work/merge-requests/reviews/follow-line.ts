import type { Hunk } from '@rookery/git';
import { findAddingHunk, findRemovingHunk, invertHunks, mapOldLineToNew } from './diff-lines';
import type { DiffLine } from './diff-lines';

/** How one side of a file changed between two versions. `path` is null if the file is gone. */
export interface FileMove {
  readonly path: string | null;
  readonly hunks: readonly Hunk[];
}

/** File of the new diff. */
export interface DiffedFile {
  readonly oldPath: string;
  readonly newPath: string;
  readonly hunks: readonly Hunk[];
}

/** How both sides of a file changed from the old diff to the new one, and the files of the new diff. */
export interface FileMoves {
  readonly head: FileMove;
  readonly base: FileMove;
  /** Finds a file of the new diff by its path on one side. Returns undefined if the diff does not change the file. */
  byNewPath(path: string): DiffedFile | undefined;
  byOldPath(path: string): DiffedFile | undefined;
}

/** Line with the paths of its file. */
export interface DiffSpot extends DiffLine {
  readonly oldPath: string;
  readonly newPath: string;
}

/**
 * New place of a line. An inactive line has no place any more. Then `side` is the side that changed it, and `spot` is
 * the place of the change in the difference of that side.
 */
export type FollowedSpot =
  | { readonly isActive: true; readonly spot: DiffSpot }
  | { readonly isActive: false; readonly side: 'head' | 'base'; readonly spot: DiffSpot };

/**
 * Follows a line from an old diff to a new one. A line is inside of the new diff if that changes its file.
 * Source: reference repositories 8.12.
 */
export function followLineToNewDiff(spot: DiffSpot, moves: FileMoves): FollowedSpot {
  return spot.newLine === null
    ? followLineOnOldSide(spot, spot.oldLine!, moves)
    : followLineOnNewSide(spot, spot.newLine, moves);
}

/** Follows an added or unchanged line through the new side. */
function followLineOnNewSide({ newPath }: DiffSpot, line: number, { head, base, ...moves }: FileMoves): FollowedSpot {
  const newLine = mapOldLineToNew(head.hunks, line);
  if (head.path === null || newLine === null)
    return outdatedSpot('head', { oldPath: newPath, newPath: head.path ?? newPath, oldLine: line, newLine: null });
  const file = moves.byNewPath(head.path);
  if (!file) {
    const path = base.path ?? head.path;
    return outdatedSpot('base', { oldPath: path, newPath: path, oldLine: null, newLine });
  }
  const isAdded = findAddingHunk(file.hunks, newLine) !== undefined;
  const oldLine = isAdded ? null : mapOldLineToNew(invertHunks(file.hunks), newLine);
  return { isActive: true, spot: { oldPath: file.oldPath, newPath: file.newPath, oldLine, newLine } };
}

/** Follows a removed line through the old side. */
function followLineOnOldSide({ oldPath }: DiffSpot, line: number, { base, ...moves }: FileMoves): FollowedSpot {
  const oldLine = mapOldLineToNew(base.hunks, line);
  if (base.path === null || oldLine === null)
    return outdatedSpot('base', { oldPath, newPath: base.path ?? oldPath, oldLine: line, newLine: null });
  const file = moves.byOldPath(base.path);
  if (!file || !findRemovingHunk(file.hunks, oldLine)) {
    const newLine = file ? mapOldLineToNew(file.hunks, oldLine) : oldLine;
    const path = file?.newPath ?? base.path;
    return outdatedSpot('head', { oldPath: path, newPath: path, oldLine: null, newLine });
  }
  return { isActive: true, spot: { oldPath: file.oldPath, newPath: file.newPath, oldLine, newLine: null } };
}

function outdatedSpot(side: 'head' | 'base', spot: DiffSpot): FollowedSpot {
  return { isActive: false, side, spot };
}
