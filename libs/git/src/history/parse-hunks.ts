import type { Readable } from 'node:stream';

/**
 * Changed lines of a file. Lines are counted from 1. If `oldCount` is 0, lines were added after line `oldStart`. If
 * `newCount` is 0, lines were removed after line `newStart`.
 */
export interface Hunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

const LINE_END = 10;
/** Bytes of a line that are looked at; the header of a hunk is shorter. */
const HEAD_BYTES = 80;
const FILE = 'diff --git ';
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Parses the hunks of `diff-tree -p -U0`, one list for each file in the order of the output. Lines of files begin with a sign
 * or a backslash, so only git writes the two headers at the start of a line. Bounds: no line is held in memory.
 */
export async function parseHunks(output: Readable): Promise<Hunk[][]> {
  const files: Hunk[][] = [];
  let head = '';
  const finish = (): void => {
    if (head.startsWith(FILE)) files.push([]);
    const hunk = HUNK.exec(head);
    if (hunk) files.at(-1)?.push(toHunk(hunk));
    head = '';
  };
  for await (const chunk of output) {
    const bytes = chunk as Buffer;
    let from = 0;
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, from)) {
      if (head.length < HEAD_BYTES) head += bytes.toString('latin1', from, Math.min(end, from + HEAD_BYTES));
      finish();
      from = end + 1;
    }
    if (head.length < HEAD_BYTES) head += bytes.toString('latin1', from, from + HEAD_BYTES);
  }
  finish();
  return files;
}

/** A count that is missing is 1. */
function toHunk([, oldStart, oldCount = '1', newStart, newCount = '1']: readonly (string | undefined)[]): Hunk {
  return {
    oldStart: Number(oldStart),
    oldCount: Number(oldCount),
    newStart: Number(newStart),
    newCount: Number(newCount),
  };
}
