import { invalidGitArgument } from '../process/git-error';
import { objectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import type { Repository } from '../repository/repository';
import { readObject } from './objects';
import { typeOfMode } from './parse-tree';
import type { TreeEntry } from './parse-tree';

const NUL = 0;
const BLANK = 32;
const TAB = 9;
const ID_BYTES = 20;
const FOUR = 52;
const SIX = 54;
const ZERO = 48;
const SLASH = Buffer.from('/');
/** Largest tree object and largest recursive listing. Units: bytes; about 1.5 and 3 million entries. */
const MAX_TREE_BYTES = 64 * 1024 * 1024;
const MAX_LISTING_BYTES = 256 * 1024 * 1024;
const TREE = 0;
const BLOB = 1;
const COMMIT = 2;

/** Bytes of one listing with the place of each entry. */
interface TreeLayout {
  readonly content: Buffer;
  /** Places of the entries, by type and in git's order. */
  readonly starts: Uint32Array;
  /** Number of folders, and of folders and files. */
  readonly ends: readonly [number, number];
  readonly isObject: boolean;
}

/**
 * Entries of a tree: folders first, then files, then submodules, each in git's order. Only requested entries are
 * decoded, so a page costs little in a large tree.
 */
export class SortedTree {
  private constructor(private readonly layout: TreeLayout) {}

  /** Sorts the content of a tree object. The paths of its entries are names. */
  static ofTreeObject(content: Buffer): SortedTree {
    const places: [number[], number[], number[]] = [[], [], []];
    for (let at = 0; at < content.length;) {
      const isSubmodule = content[at + 1] === SIX;
      places[content[at] === FOUR ? TREE : isSubmodule ? COMMIT : BLOB].push(at);
      const end = content.indexOf(NUL, at);
      if (end < 0 || end + ID_BYTES >= content.length) throw invalidGitArgument('The tree is malformed.');
      at = end + 1 + ID_BYTES;
    }
    return new SortedTree(createTreeLayout(content, places, true));
  }

  /** Sorts the output of `ls-tree -z`. The paths of its entries are relative to the listed tree. */
  static ofListing(content: Buffer): SortedTree {
    const places: [number[], number[], number[]] = [[], [], []];
    for (let at = 0; at < content.length;) {
      const isSubmodule = content[at + 1] === SIX;
      places[content[at] === ZERO ? TREE : isSubmodule ? COMMIT : BLOB].push(at);
      const end = content.indexOf(NUL, at);
      if (end < 0) throw invalidGitArgument('The output of ls-tree is malformed.');
      at = end + 1;
    }
    return new SortedTree(createTreeLayout(content, places, false));
  }

  get length(): number {
    return this.layout.starts.length;
  }

  /** Memory that it holds. Units: bytes. */
  get bytes(): number {
    return this.layout.content.length + this.layout.starts.byteLength;
  }

  /** Decodes the entries from an index on. Their sizes are null. */
  readEntries(start: number, end = this.length): TreeEntry[] {
    const entries: TreeEntry[] = [];
    for (let index = Math.max(0, start); index < Math.min(end, this.length); index += 1)
      entries.push(this.readEntry(index));
    return entries;
  }

  /** Returns the key of an entry, which names its place in any listing of the folder. */
  keyAt(index: number): Buffer {
    const [folders, files] = this.layout.ends;
    const rank = index < folders ? TREE : index < files ? BLOB : COMMIT;
    const path = this.pathOfEntryAt(this.layout.starts[index]!);
    return Buffer.concat([Buffer.from([rank]), path, ...(rank === TREE ? [SLASH] : [])]);
  }

  /** Returns the index of the first entry after a key, also if the entry of the key does not exist. */
  indexAfter(key: Buffer): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.keyAt(middle), key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private readEntry(index: number): TreeEntry {
    const { content, isObject, starts } = this.layout;
    const start = starts[index]!;
    const mode = content.toString('latin1', start, content.indexOf(BLANK, start)).padStart(6, '0');
    const type = typeOfMode(mode);
    const path = this.pathOfEntryAt(start);
    // In a listing the id stands before the tab, in a tree object after the name.
    const at = path.byteOffset - content.byteOffset;
    const id = isObject
      ? content.toString('hex', at + path.length + 1, at + path.length + 1 + ID_BYTES)
      : content.toString('latin1', at - 1 - 2 * ID_BYTES, at - 1);
    return { mode, type, id: id as ObjectId, path: path.toString(), size: null };
  }

  private pathOfEntryAt(start: number): Buffer {
    const { content, isObject } = this.layout;
    const from = content.indexOf(isObject ? BLANK : TAB, start) + 1;
    return content.subarray(from, content.indexOf(NUL, from));
  }
}

/** Lists one folder from a kept reader. Returns null if there is no such tree. */
export async function readSortedTree(repository: Repository, tree: ObjectId): Promise<SortedTree | null> {
  const object = await readObject(repository, { rev: tree }, MAX_TREE_BYTES);
  return object?.type === 'tree' ? SortedTree.ofTreeObject(object.content) : null;
}

/** Lists a tree with everything below it, the folders themselves included. Errors: GitError `not found`, `too large`. */
export async function readSortedTreeRecursively(repository: Repository, tree: ObjectId): Promise<SortedTree> {
  const args = ['ls-tree', '-r', '-t', '-z', '--full-tree', objectId(tree)];
  const { stdout } = await repository.run({ args, limits: { outputBytes: MAX_LISTING_BYTES } });
  return SortedTree.ofListing(stdout);
}

function createTreeLayout(
  content: Buffer,
  [trees, blobs, commits]: [number[], number[], number[]],
  isObject: boolean,
): TreeLayout {
  const starts = Uint32Array.from([...trees, ...blobs, ...commits]);
  return { content, starts, ends: [trees.length, trees.length + blobs.length], isObject };
}
