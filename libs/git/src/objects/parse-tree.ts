import { invalidGitArgument } from '../process/git-error';
import type { ObjectId } from '../names/object-id';

/** Entry of a tree. `mode` has six digits; `size` is null for trees and submodules, and where it was not asked for. */
export interface TreeEntry {
  readonly mode: string;
  readonly type: 'blob' | 'tree' | 'commit';
  readonly id: ObjectId;
  /** Relative to the listed folder for tree objects, to the root for `ls-tree`. Bytes that are not UTF-8 are replaced. */
  readonly path: string;
  readonly size: number | null;
}

const ID_BYTES = 20;
const NUL = 0;
const BLANK = 32;
const LS_TREE = /^(\d{6}) (blob|tree|commit) ([0-9a-f]{40}) +(\d+|-)\t([^]*)$/;

/** Parses `ls-tree -z --long`. */
export function parseLsTree(output: Buffer): TreeEntry[] {
  const records = output.toString().split('\0');
  return records
    .filter((record) => record !== '')
    .map((record) => {
      const match = LS_TREE.exec(record);
      if (!match) throw invalidGitArgument('The output of ls-tree is malformed.');
      const [, mode, type, id, size, path] = match as unknown as [
        string,
        string,
        TreeEntry['type'],
        ObjectId,
        string,
        string,
      ];
      return { mode, type, id, path, size: size === '-' ? null : Number(size) };
    });
}

/** Parses the content of a tree object. */
export function parseTreeObject(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(BLANK, at);
    const end = content.indexOf(NUL, blank);
    if (blank < 0 || end < 0 || end + ID_BYTES >= content.length) throw invalidGitArgument('The tree is malformed.');
    const mode = content.toString('latin1', at, blank).padStart(6, '0');
    const path = content.toString('utf8', blank + 1, end);
    const id = content.toString('hex', end + 1, end + 1 + ID_BYTES) as ObjectId;
    entries.push({ mode, type: typeOfMode(mode), id, path, size: null });
    at = end + 1 + ID_BYTES;
  }
  return entries;
}

/** Finds one name in the content of a tree object, null if it is not there. */
export function findInTreeObject(content: Buffer, name: string): TreeEntry | null {
  const wanted = Buffer.from(name);
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(BLANK, at);
    const end = content.indexOf(NUL, blank);
    if (blank < 0 || end < 0 || end + ID_BYTES >= content.length) throw invalidGitArgument('The tree is malformed.');
    const next = end + 1 + ID_BYTES;
    if (end - blank - 1 === wanted.length && content.compare(wanted, 0, wanted.length, blank + 1, end) === 0)
      return parseTreeObject(content.subarray(at, next))[0]!;
    at = next;
  }
  return null;
}

/** Returns the type of an entry by its mode of six digits. */
export function typeOfMode(mode: string): TreeEntry['type'] {
  if (mode === '040000') return 'tree';
  return mode === '160000' ? 'commit' : 'blob';
}
