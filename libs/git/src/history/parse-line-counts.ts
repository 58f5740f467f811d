import type { ObjectId } from '../names/object-id';

/** Lines that a commit adds and removes, all files together. */
export interface LineCounts {
  readonly additions: number;
  readonly deletions: number;
}

const ID = /^[0-9a-f]{40}$/;
const ADDED = /(\d+) insertion/;
const DELETED = /(\d+) deletion/;

/** Parses `log --format=%H --shortstat`. A commit without a line of numbers changes no text. */
export function parseLineCounts(output: Buffer): Map<ObjectId, LineCounts> {
  const counts = new Map<ObjectId, LineCounts>();
  let id: ObjectId | null = null;
  for (const line of output.toString().split('\n')) {
    if (ID.test(line)) {
      id = line as ObjectId;
      counts.set(id, { additions: 0, deletions: 0 });
    } else if (id !== null && line.startsWith(' ')) {
      const numberIn = (pattern: RegExp): number => Number(pattern.exec(line)?.[1] ?? 0);
      counts.set(id, { additions: numberIn(ADDED), deletions: numberIn(DELETED) });
    }
  }
  return counts;
}
