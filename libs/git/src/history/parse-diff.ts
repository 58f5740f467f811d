import { invalidGitArgument } from '../process/git-error';
import type { ObjectId } from '../names/object-id';

/** Changed file of a diff. Modes have six digits. A side without the file has the mode `000000`. */
export interface FileChange {
  readonly status: 'added' | 'deleted' | 'modified' | 'type changed' | 'renamed' | 'copied' | 'unmerged';
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldId: ObjectId;
  readonly newId: ObjectId;
  readonly oldPath: string;
  readonly newPath: string;
  /** Percentage of equal content of a renamed or copied file, else null. */
  readonly similarity: number | null;
  /** Null for binary files, and where numbers were not asked for. */
  readonly added: number | null;
  readonly deleted: number | null;
}

const STATUS: Readonly<Record<string, FileChange['status']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  T: 'type changed',
  R: 'renamed',
  C: 'copied',
  U: 'unmerged',
};
const RAW = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) ([A-Z])(\d*)$/;
const NUMBERS = /^(\d+|-)\t(\d+|-)\t([^]*)$/;

/**
 * Parses `diff-tree -r -z --raw --numstat`: all raw records come first, then the numbers in the same order. Paths are
 * never parsed out of a line with others, so they may hold any character.
 */
export function parseDiff(output: Buffer): FileChange[] {
  const fields = output.toString().split('\0');
  const changes: FileChange[] = [];
  let at = 0;
  const next = (): string => fields[at++] ?? throwMalformedDiffOutput();
  // With one commit as argument its id comes first.
  if (/^[0-9a-f]{40}$/.test(fields[0] ?? '')) at = 1;
  while (fields[at]?.startsWith(':')) changes.push(readRawDiffRecord(next));
  for (let index = 0; at < fields.length && fields[at] !== ''; index += 1) {
    const change = changes[index] ?? throwMalformedDiffOutput();
    changes[index] = { ...change, ...readDiffLineCounts(next) };
  }
  return changes;
}

function readRawDiffRecord(next: () => string): FileChange {
  const match = RAW.exec(next()) ?? throwMalformedDiffOutput();
  const [, oldMode, newMode, oldId, newId, letter, score] = match as unknown as string[];
  const status = STATUS[letter!] ?? throwMalformedDiffOutput();
  const oldPath = next();
  const newPath = status === 'renamed' || status === 'copied' ? next() : oldPath;
  return {
    status,
    oldMode: oldMode!,
    newMode: newMode!,
    oldId: oldId as ObjectId,
    newId: newId as ObjectId,
    oldPath,
    newPath,
    similarity: score === '' ? null : Number(score),
    added: null,
    deleted: null,
  };
}

function readDiffLineCounts(next: () => string): Pick<FileChange, 'added' | 'deleted'> {
  const [, added, deleted, path] = (NUMBERS.exec(next()) ?? throwMalformedDiffOutput()) as unknown as [
    string,
    string,
    string,
    string,
  ];
  if (path === '') {
    // A rename: old and new path follow as fields of their own.
    next();
    next();
  }
  return { added: added === '-' ? null : Number(added), deleted: deleted === '-' ? null : Number(deleted) };
}

function throwMalformedDiffOutput(): never {
  throw invalidGitArgument('The output of diff-tree is malformed.');
}
