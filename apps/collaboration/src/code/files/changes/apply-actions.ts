import { GitError, isWritableTreePath, TreeEditor, writeBlobs } from '@rookery/git';
import type { ObjectId, Repository, TreeEntry } from '@rookery/git';
import { Refused } from '@rookery/kernel';
import { blobContentOfAction } from './file-action';
import type { FileAction } from './file-action';

const PLAIN = '100644';
const EXECUTABLE = '100755';
/** Contents of one commit together. Units: bytes. Source: reference repositories 3.6. */
const MAX_CONTENT_BYTES = 100 * 1024 * 1024;

/**
 * Applies actions in their order to a tree and writes the changed folders and files. Returns the new tree.
 * `view` is in a quarantine. `tree` is null for an empty repository. Errors: Refused, with the documented text.
 */
export async function applyActions(
  view: Repository,
  tree: ObjectId | null,
  actions: readonly FileAction[],
): Promise<ObjectId> {
  const contents = actions.map(blobContentOfAction);
  const written = await writeBlobs(
    view,
    contents.filter((content) => content !== null),
    MAX_CONTENT_BYTES,
  );
  const editor = await TreeEditor.openTree(view, tree);
  const changes = new FileActionApplier(editor);
  for (const [index, action] of actions.entries()) {
    const blob = contents[index] === null ? null : written.shift()!;
    await changes.applyAction(action, blob);
  }
  return editor.writeTree();
}

/** Actions on one tree, with their refusals. */
class FileActionApplier {
  constructor(private readonly editor: TreeEditor) {}

  async applyAction(action: FileAction, blob: ObjectId | null): Promise<void> {
    checkWritablePath(action.path);
    switch (action.kind) {
      case 'create':
        await this.checkPathIsFree(action.path);
        return this.putEntry(action.path, { mode: chooseFileMode(PLAIN, action.isExecutable), id: blob! });
      case 'update': {
        const { mode } = await this.requireFile(action.path);
        return this.putEntry(action.path, { mode: chooseFileMode(mode, action.isExecutable), id: blob! });
      }
      case 'move':
        return this.moveFile(action, blob);
      case 'delete':
        await this.requireEntry(action.path);
        await this.editor.removeEntry(action.path);
        return;
      case 'chmod': {
        const file = await this.requireFile(action.path);
        return this.putEntry(action.path, { mode: chooseFileMode(file.mode, action.isExecutable), id: file.id });
      }
    }
  }

  private async moveFile(action: FileAction & { readonly kind: 'move' }, blob: ObjectId | null): Promise<void> {
    const { path, previousPath } = action;
    checkWritablePath(previousPath);
    const file = await (blob === null ? this.requireEntry(previousPath) : this.requireFile(previousPath));
    await this.checkPathIsFree(path);
    await this.editor.removeEntry(previousPath);
    return this.putEntry(path, { mode: file.mode, id: blob ?? file.id });
  }

  /** Returns a file, link or submodule. Errors: Refused. */
  private async requireEntry(path: string): Promise<TreeEntry> {
    const entry = await this.editor.findEntry(path);
    if (entry === null || entry.type === 'tree') throw createVerbatimRefusal("A file with this name doesn't exist");
    return entry;
  }

  private async requireFile(path: string): Promise<TreeEntry> {
    const entry = await this.requireEntry(path);
    if (entry.type !== 'blob') throw createVerbatimRefusal("A file with this name doesn't exist");
    return entry;
  }

  /** Checks that no file takes the path or one of its folders. Errors: Refused. */
  private async checkPathIsFree(path: string): Promise<void> {
    const names = path.split('/');
    for (let depth = 1; depth <= names.length; depth += 1) {
      const entry = await this.editor.findEntry(names.slice(0, depth).join('/'));
      if (entry === null) return;
      if (entry.type !== 'tree') throw createVerbatimRefusal('A file with this name already exists');
    }
    throw createVerbatimRefusal('A directory with this name already exists');
  }

  private async putEntry(path: string, entry: Pick<TreeEntry, 'mode' | 'id'>): Promise<void> {
    try {
      await this.editor.putEntry(path, entry);
    } catch (error) {
      if (error instanceof GitError && error.reason === 'invalid')
        throw createVerbatimRefusal(`invalid path: '${path}'`);
      throw error;
    }
  }
}

function checkWritablePath(path: string): void {
  if (path === '') throw createVerbatimRefusal('You must provide a file path');
  if (path.split('/').includes('..')) throw createVerbatimRefusal('Path cannot include directory traversal');
  if (!isWritableTreePath(path)) throw createVerbatimRefusal(`invalid path: '${path}'`);
}

/** Returns the new mode of a file. Links and other modes stay as they are. */
function chooseFileMode(mode: string, isExecutable: boolean | undefined): string {
  if (isExecutable === undefined || (mode !== PLAIN && mode !== EXECUTABLE)) return mode;
  return isExecutable ? EXECUTABLE : PLAIN;
}

function createVerbatimRefusal(text: string): Refused {
  return new Refused(text, { verbatim: true });
}
