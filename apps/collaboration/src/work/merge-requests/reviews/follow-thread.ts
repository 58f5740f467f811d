import type { RequestedLine } from '../../../talk/notes/positions/code-reviews';
import type { FollowedPosition } from '../../../talk/notes/positions/followed-rows';
import type { PositionFields } from '../../../talk/notes/positions/position-rows';
import { computeLineCodeCounters, composeDiffLineCode } from './diff-lines';
import type { DiffLine } from './diff-lines';
import type { ActiveThread } from './followed-threads';
import type { FileMovesBetweenDiffs } from './file-moves';
import { movePositionToDiff, readLineRange } from './shown-position';
import type { DiffShas } from './shown-position';
import { followLineToNewDiff } from './follow-line';
import type { DiffedFile, DiffSpot, FileMoves } from './follow-line';

/** Follows one thread to another diff. Source: reference repositories 8.12. */
export function followThreadToNewDiff(
  thread: ActiveThread,
  version: DiffShas,
  diffMoves: FileMovesBetweenDiffs,
): FollowedPosition {
  const { thread_id: threadId, shown, old_path: oldPath, new_path: newPath } = thread;
  const moves = diffMoves.fileMoves({ oldPath, newPath });
  if (shown.position_type !== 'text') return followFilePosition(thread, version, { moves, read: diffMoves });
  const { old_line: oldLine = null, new_line: newLine = null } = shown;
  const followed = followLineToNewDiff({ oldPath, newPath, oldLine, newLine }, moves);
  if (!followed.isActive) {
    const change = positionOfOutdatingChange(shown, version, followed.side, followed.spot);
    return { threadId, shown, change, lineCode: null, oldPath, newPath };
  }
  const { spot } = followed;
  const file = moves.byNewPath(spot.newPath) ?? moves.byOldPath(spot.oldPath)!;
  const range = readLineRange(shown);
  const end = range && { ...range.end, ...toRangeLine(file, spot) };
  const start = range && (followRangeLine(range.start, { oldPath, newPath, moves }) ?? end);
  const moved = movePositionToDiff(shown, version, {
    ...{ old_path: spot.oldPath, new_path: spot.newPath, old_line: spot.oldLine, new_line: spot.newLine },
    line_range: range && { start, end },
  });
  const code = computeLineCode(file, spot);
  return { threadId, shown: moved, change: null, lineCode: code, oldPath: spot.oldPath, newPath: spot.newPath };
}

/** Threads on a whole file stay while the diff changes the file; those on an image end with another image. */
function followFilePosition(
  { thread_id: threadId, shown, old_path: oldPath, new_path: newPath }: ActiveThread,
  version: DiffShas,
  { moves, read }: { readonly moves: FileMoves; readonly read: FileMovesBetweenDiffs },
): FollowedPosition {
  const file = moves.head.path === null ? undefined : moves.byNewPath(moves.head.path);
  const isOther = shown.position_type === 'image' && read.isHeadChanged(newPath);
  if (!file || isOther) {
    const spot = { oldPath: newPath, newPath: moves.head.path ?? newPath, oldLine: null, newLine: null };
    return {
      threadId,
      shown,
      change: positionOfOutdatingChange(shown, version, 'head', spot),
      lineCode: null,
      oldPath,
      newPath,
    };
  }
  const moved = movePositionToDiff(shown, version, { old_path: file.oldPath, new_path: file.newPath });
  return { threadId, shown: moved, change: null, lineCode: null, oldPath: file.oldPath, newPath: file.newPath };
}

/** Place of the change that made a thread outdated, in the difference of one side. */
function positionOfOutdatingChange(
  { base_sha, head_sha, position_type }: PositionFields,
  { baseSha, headSha }: DiffShas,
  side: 'head' | 'base',
  { oldPath, newPath, oldLine, newLine }: DiffSpot,
): PositionFields {
  const [from, to] = side === 'head' ? [head_sha, headSha] : [base_sha, baseSha];
  return {
    ...{ base_sha: from, start_sha: from, head_sha: to, old_path: oldPath, new_path: newPath, position_type },
    ...{ old_line: oldLine, new_line: newLine },
  };
}

/** Returns null if the line is gone. */
function followRangeLine(
  line: RequestedLine,
  { oldPath, newPath, moves }: { readonly oldPath: string; readonly newPath: string; readonly moves: FileMoves },
): RequestedLine | null {
  const { old_line: oldLine, new_line: newLine } = line;
  if (oldLine === null && newLine === null) return null;
  const followed = followLineToNewDiff({ oldPath, newPath, oldLine, newLine }, moves);
  if (!followed.isActive) return null;
  const file = moves.byNewPath(followed.spot.newPath) ?? moves.byOldPath(followed.spot.oldPath)!;
  return { ...line, ...toRangeLine(file, followed.spot) };
}

function toRangeLine(file: DiffedFile, { oldLine, newLine }: DiffLine) {
  return { line_code: computeLineCode(file, { oldLine, newLine }), old_line: oldLine, new_line: newLine };
}

function computeLineCode({ newPath, hunks }: DiffedFile, line: DiffLine): string | null {
  const counters = computeLineCodeCounters(hunks, line);
  return counters && composeDiffLineCode(newPath, counters);
}
