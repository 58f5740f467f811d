import { createHash } from 'node:crypto';
import type { Hunk } from '@rookery/git';

/** Line of a diff by its numbers on both sides. The number is null on a side where the line does not exist. */
export interface DiffLine {
  readonly oldLine: number | null;
  readonly newLine: number | null;
}

/** Hunks of the same diff in the other direction. */
export function invertHunks(hunks: readonly Hunk[]): Hunk[] {
  return hunks.map(({ oldStart, oldCount, newStart, newCount }) => ({
    ...{ oldStart: newStart, oldCount: newCount, newStart: oldStart, newCount: oldCount },
  }));
}

/** Returns the number of an old line in the new file, or null if the line was removed or changed. */
export function mapOldLineToNew(hunks: readonly Hunk[], line: number): number | null {
  let shift = 0;
  for (const { oldStart, oldCount, newStart, newCount } of hunks) {
    // Lines that are only added come after the old line that the hunk names.
    const first = oldCount === 0 ? oldStart + 1 : oldStart;
    if (line < first) break;
    if (line < first + oldCount) return null;
    const afterNew = newCount === 0 ? newStart + 1 : newStart + newCount;
    shift = afterNew - (first + oldCount);
  }
  return line + shift;
}

/** Returns the hunk that added a new line, or undefined if the line is older. */
export function findAddingHunk(hunks: readonly Hunk[], newLine: number): Hunk | undefined {
  return hunks.find(({ newStart, newCount }) => newLine >= newStart && newLine < newStart + newCount);
}

/** Returns the hunk that removed an old line, or undefined if the line is still there. */
export function findRemovingHunk(hunks: readonly Hunk[], oldLine: number): Hunk | undefined {
  return hunks.find(({ oldStart, oldCount }) => oldLine >= oldStart && oldLine < oldStart + oldCount);
}

/** Returns a line of one side with its number on the other side, if it is there, too. */
export function toDiffLine(hunks: readonly Hunk[], side: 'old' | 'new', line: number): DiffLine {
  if (side === 'new') {
    return { oldLine: findAddingHunk(hunks, line) ? null : mapOldLineToNew(invertHunks(hunks), line), newLine: line };
  }
  return { oldLine: line, newLine: findRemovingHunk(hunks, line) ? null : mapOldLineToNew(hunks, line) };
}

/**
 * Running numbers of both sides at a line, which make its code. A removed line comes before the lines that replace it.
 * Returns null if the diff has no such line. Whether an unchanged line exists at all is for the caller to check.
 */
export function computeLineCodeCounters(
  hunks: readonly Hunk[],
  { oldLine, newLine }: DiffLine,
): [number, number] | null {
  if (oldLine !== null && newLine !== null)
    return mapOldLineToNew(hunks, oldLine) === newLine ? [oldLine, newLine] : null;
  if (newLine !== null) {
    const hunk = findAddingHunk(hunks, newLine);
    return hunk ? [hunk.oldStart + Math.max(1, hunk.oldCount), newLine] : null;
  }
  const hunk = oldLine === null ? undefined : findRemovingHunk(hunks, oldLine);
  return hunk ? [oldLine!, hunk.newCount === 0 ? hunk.newStart + 1 : hunk.newStart] : null;
}

/** Code of a line in a diff: the digest of the path, and the running numbers of both sides. Source: reference repositories 8.11. */
export function composeDiffLineCode(path: string, counters: readonly [number, number]): string {
  return `${createHash('sha1').update(path).digest('hex')}_${counters[0]}_${counters[1]}`;
}
