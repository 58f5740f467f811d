import type { Repository } from '../repository/repository';
import { objectInfo, readObject } from './objects';
import type { ObjectName } from './objects';
import { objectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import { findInTreeObject, parseLsTree, parseTreeObject } from './parse-tree';
import type { TreeEntry } from './parse-tree';
import { requireTreePath } from '../names/tree-path';

/**
 * Lists one folder from a kept reader in git's order, without sizes. Returns null if it does not exist or is a file.
 */
export async function readTree(repository: Repository, name: ObjectName): Promise<TreeEntry[] | null> {
  const tree = await readObject(repository, { ...name, path: name.path ?? '' });
  return tree?.type === 'tree' ? parseTreeObject(tree.content) : null;
}

/** Largest folder in which a name is looked up. Units: bytes. */
const MAX_FOLDER_BYTES = 64 * 1024 * 1024;

/** Returns the entry of a path in the tree of a commit, null if there is none. Its `path` is the whole path. */
export async function readEntry(repository: Repository, commit: ObjectId, path: string): Promise<TreeEntry | null> {
  requireTreePath(path);
  const at = path.lastIndexOf('/');
  const folder = await readObject(repository, { rev: commit, path: path.slice(0, Math.max(0, at)) }, MAX_FOLDER_BYTES);
  if (folder?.type !== 'tree') return null;
  const entry = findInTreeObject(folder.content, path.slice(at + 1));
  return entry && { ...entry, path };
}

/** Returns the id of the tree of a path, null if it does not exist or is a file. An empty path is the root. */
export async function findTree(repository: Repository, commit: ObjectId, path: string): Promise<ObjectId | null> {
  const info = await objectInfo(repository, { rev: commit, path });
  return info?.type === 'tree' ? objectId(info.id) : null;
}

export interface TreeListing {
  /** A commit or a tree. */
  readonly id: string;
  readonly isRecursive: boolean;
  /** Entries of these paths only. A trailing slash lists the folder itself. */
  readonly paths?: readonly string[];
  /** Most bytes of the list. Default 64 MiB. */
  readonly maxBytes?: number;
}

/**
 * Lists a tree with sizes, in recursive listings with the folders themselves.
 * Errors: GitError `not found`, `too large`.
 */
export async function listTree(repository: Repository, listing: TreeListing): Promise<TreeEntry[]> {
  const paths = (listing.paths ?? []).map((path) => {
    requireTreePath(path.endsWith('/') ? path.slice(0, -1) : path);
    return path;
  });
  const depth = listing.isRecursive ? ['-r', '-t'] : [];
  const args = ['ls-tree', '-z', '--long', '--full-tree', ...depth, objectId(listing.id), '--', ...paths];
  const { maxBytes } = listing;
  const limits = maxBytes === undefined ? undefined : { outputBytes: maxBytes };
  const { stdout } = await repository.run({ args, limits });
  return parseLsTree(stdout);
}
