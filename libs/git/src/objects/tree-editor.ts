import { createHash } from 'node:crypto';
import { invalidGitArgument } from '../process/git-error';
import { isWritableTreePath } from '../names/tree-path';
import type { ObjectId } from '../names/object-id';
import type { Repository } from '../repository/repository';
import { readObject } from './objects';
import { typeOfMode } from './parse-tree';
import type { TreeEntry } from './parse-tree';
import { checkGitmodulesBlob, isGitmodulesName } from './submodules';
import { writeObjects } from './write-objects';

/** Entry of a folder. `mode` is stored as in git, without a leading zero for folders. */
interface EditedTreeEntry {
  readonly mode: string;
  readonly id: string;
  /** Opened folder whose entries may differ from `id`; null for others. */
  readonly folder: EditedFolder | null;
}

/** Opened folder. Names are their bytes as latin1, so that names in any encoding survive. */
interface EditedFolder {
  readonly items: Map<string, EditedTreeEntry>;
  isChanged: boolean;
}

const NUL = 0;
const BLANK = 32;
const ID_BYTES = 20;
const FOLDER_MODE = '40000';
const SYMBOLIC_LINK = '120000';
const FILE_MODES = ['100644', '100755', '120000', '160000'];
/** Largest folder in which entries change. Units: bytes. */
const MAX_FOLDER_BYTES = 64 * 1024 * 1024;
/** Largest size of all changed folders of one edit. Units: bytes. */
const MAX_WRITTEN_BYTES = 512 * 1024 * 1024;
/** Stands for bytes that were not UTF-8. Such a name is another one when it is written. */
const REPLACED = '\ufffd';

/**
 * Changes files of a tree without a working copy. Folders are read when a path leads through them, and only changed
 * ones are written, by one process: the cost follows the depth of the paths and not the size of the tree. Folders
 * without entries vanish. The repository must be the view of a quarantine.
 */
export class TreeEditor {
  private constructor(
    private readonly repository: Repository,
    private readonly root: EditedFolder,
  ) {}

  /** Opens a tree, or an empty one. Errors: GitError `not found`, `too large`. */
  static async openTree(repository: Repository, tree: ObjectId | null): Promise<TreeEditor> {
    const root =
      tree === null
        ? { items: new Map<string, EditedTreeEntry>(), isChanged: true }
        : await readEditableFolder(repository, tree);
    return new TreeEditor(repository, root);
  }

  /** Returns the current entry of a path, null if there is none. A changed folder still has its old id. */
  async findEntry(path: string): Promise<TreeEntry | null> {
    const { parents, name } = splitTreePath(path);
    const folder = await this.openFolder(parents);
    const item = folder?.items.get(name);
    if (!item) return null;
    const mode = item.mode.padStart(6, '0');
    return { mode, type: typeOfMode(mode), id: item.id as ObjectId, path, size: null };
  }

  /**
   * Puts a file, a link or a submodule at a path, and adds missing folders.
   * Errors: GitError `invalid` for a path that no tree may hold, or that leads through a file.
   */
  async putEntry(path: string, { mode, id }: Pick<TreeEntry, 'mode' | 'id'>): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (!isWritableTreePath(path) || path.includes(REPLACED)) throw invalidGitArgument('The path is invalid.');
    if (!FILE_MODES.includes(mode)) throw invalidGitArgument('The mode of a file is invalid.');
    if (isGitmodulesName(name)) {
      // fsck refuses this in pushes too: the link may lead out of the working copy.
      if (mode === SYMBOLIC_LINK) throw invalidGitArgument('The list of submodules is no link.');
      await checkGitmodulesBlob(this.repository, id);
    }
    const { parents, name: key } = splitTreePath(path);
    const folder = await this.openFolder(parents, true);
    if (folder === null) throw invalidGitArgument('The path leads through a file.');
    folder.items.set(key, { mode, id, folder: null });
    folder.isChanged = true;
  }

  /** Removes the entry of a path. Returns false if there is none. */
  async removeEntry(path: string): Promise<boolean> {
    const { parents, name } = splitTreePath(path);
    const folder = await this.openFolder(parents);
    if (!folder?.items.delete(name)) return false;
    folder.isChanged = true;
    // Later edits find no folder without entries, as in the index of git.
    if (folder.items.size === 0 && parents.length > 0) await this.removeEntry(parentOf(path));
    return true;
  }

  /** Writes the changed folders. Returns the id of the root. */
  async writeTree(): Promise<ObjectId> {
    const contents: Buffer[] = [];
    const root = collectChangedTrees(this.root, contents);
    await writeObjects(this.repository, { type: 'tree', contents, maxBytes: MAX_WRITTEN_BYTES });
    return root as ObjectId;
  }

  /** Opens the folders of a path. Returns null if one is missing, or is a file. */
  private async openFolder(names: readonly string[], adds = false): Promise<EditedFolder | null> {
    let folder = this.root;
    for (const name of names) {
      const item = folder.items.get(name);
      if (item && item.mode.padStart(6, '0') !== '040000') return null;
      if (!item && !adds) return null;
      const next =
        item?.folder ??
        (item ? await readEditableFolder(this.repository, item.id as ObjectId) : createEmptyEditedFolder());
      folder.items.set(name, { mode: item?.mode ?? FOLDER_MODE, id: item?.id ?? '', folder: next });
      folder = next;
    }
    return folder;
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function splitTreePath(path: string): { readonly parents: readonly string[]; readonly name: string } {
  const names = path.split('/').map((name) => Buffer.from(name).toString('latin1'));
  return { parents: names.slice(0, -1), name: names.at(-1)! };
}

function createEmptyEditedFolder(): EditedFolder {
  return { items: new Map(), isChanged: true };
}

async function readEditableFolder(repository: Repository, tree: ObjectId): Promise<EditedFolder> {
  const object = await readObject(repository, { rev: tree }, MAX_FOLDER_BYTES);
  if (object?.type !== 'tree') throw invalidGitArgument('The tree does not exist.');
  const { content } = object;
  const items = new Map<string, EditedTreeEntry>();
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(BLANK, at);
    const end = content.indexOf(NUL, blank);
    if (blank < 0 || end < 0 || end + ID_BYTES >= content.length) throw invalidGitArgument('The tree is malformed.');
    const next = end + 1 + ID_BYTES;
    const id = content.toString('hex', end + 1, next);
    items.set(content.toString('latin1', blank + 1, end), {
      mode: content.toString('latin1', at, blank),
      id,
      folder: null,
    });
    at = next;
  }
  return { items, isChanged: false };
}

/** Adds the contents of changed folders, children first. Returns the id of the folder; null if it has no entry. */
function collectChangedTrees(folder: EditedFolder, contents: Buffer[], isRoot = true): string | null {
  for (const [name, item] of folder.items) {
    if (item.folder === null) continue;
    const id = collectChangedChildTrees(item, item.folder, contents);
    if (id === item.id) continue;
    folder.isChanged = true;
    if (id === null) folder.items.delete(name);
    else folder.items.set(name, { ...item, id });
  }
  if (folder.items.size === 0 && !isRoot) return null;
  const content = serializeTreeObject(folder);
  contents.push(content);
  return createHash('sha1').update(`tree ${content.length}\0`).update(content).digest('hex');
}

function collectChangedChildTrees(item: EditedTreeEntry, folder: EditedFolder, contents: Buffer[]): string | null {
  const hasChanged = (one: EditedFolder): boolean =>
    one.isChanged || [...one.items.values()].some((inner) => inner.folder !== null && hasChanged(inner.folder));
  return hasChanged(folder) ? collectChangedTrees(folder, contents, false) : item.id;
}

/** Writes the entries in the order of git, in which a folder is compared as if its name ended with a slash. */
function serializeTreeObject({ items }: EditedFolder): Buffer {
  const keyOf = ([name, { mode }]: [string, EditedTreeEntry]): Buffer =>
    Buffer.from(mode.padStart(6, '0') === '040000' ? `${name}/` : name, 'latin1');
  const sorted = [...items].map((item) => ({ item, key: keyOf(item) })).sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(
    sorted.flatMap(({ item: [name, { mode, id }] }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(id, 'hex'),
    ]),
  );
}
