import { readObject } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';

/** Largest file whose lines are read. Units: bytes. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const LINE_END = 10;

/** Lines of a file with their ends. The last line may have none. Bytes that are not UTF-8 stay as they are. */
export type FileLines = readonly Buffer[];

/** First and last line, counted from 1. The last line may be beyond the end of the file. */
export interface LineSpan {
  readonly from: number;
  readonly to: number;
}

/** Splits a file into lines. */
export function splitLines(content: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < content.length;) {
    const end = content.indexOf(LINE_END, from);
    const next = end < 0 ? content.length : end + 1;
    lines.push(content.subarray(from, next));
    from = next;
  }
  return lines;
}

/** Reads the lines of a file of a commit. Returns null if there is no such file, or if it is too large. */
export async function readLines(repository: Repository, commit: ObjectId, path: string): Promise<FileLines | null> {
  try {
    const object = await readObject(repository, { rev: commit, path }, MAX_FILE_BYTES);
    return object?.type === 'blob' ? splitLines(object.content) : null;
  } catch (error) {
    if (['too large', 'invalid'].includes((error as { reason?: string }).reason ?? '')) return null;
    throw error;
  }
}

/** Lines that a suggestion replaces. */
export function computeLineSpan(line: number, { linesAbove, linesBelow }: SpanSize): LineSpan {
  return { from: Math.max(1, line - linesAbove), to: line + linesBelow };
}
export interface SpanSize {
  readonly linesAbove: number;
  readonly linesBelow: number;
}

/** Text of some lines. Bytes that are not UTF-8, and NUL, are replaced. */
export function textOfLines(lines: FileLines, { from, to }: LineSpan): string {
  const text = Buffer.concat(lines.slice(from - 1, to)).toString('utf8');
  return text.replaceAll('\0', '\ufffd');
}

/** Size of some lines. Units: bytes. */
export function bytesOfLines(lines: FileLines, { from, to }: LineSpan): number {
  return lines.slice(from - 1, to).reduce((sum, line) => sum + line.length, 0);
}
