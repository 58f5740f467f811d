import { createHash, randomBytes } from 'node:crypto';
import { access, mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { invalidGitArgument } from '../process/git-error';
import { refName } from '../names/ref-name';
import { Repository } from './repository';
import type { GitTools, RepositoryAddress } from './repository';

const HASHED = /^@hashed\/([0-9a-f]{2})\/([0-9a-f]{2})\/\1\2[0-9a-f]{60}\.git$/;
/** Files that a killed repack or push leaves. Those named `.keep` exclude their pack from every later repack. */
const UNFINISHED_PACK = /^(?:\.tmp-|tmp_|pack-.*\.keep$)/;
/** Folders of creations and removals that have not finished. */
const UNFINISHED = /^\+(?:new|gone)\+[0-9a-f]{16}$/;
/** Configuration beyond what every process gets, for people who run git in the folder by hand. */
const OWN_CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
\thooksPath = /dev/null
[gc]
\tauto = 0
[maintenance]
\tauto = false
[receive]
\tautogc = false
\tfsckObjects = true
[transfer]
\tfsckObjects = true
\thideRefs = refs/keep-around
`;
/** Start of the names of folders with scratch repositories. */
const SCRATCH = 'rookery-scratch-';

/** Makes the path of a repository, which renames and moves of its project do not change. */
export function hashedRepositoryPath(projectId: number): string {
  const hash = createHash('sha256').update(String(projectId)).digest('hex');
  return `@hashed/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}.git`;
}

/**
 * Folders of repositories by storage. Creation, forks and removal are atomic: they work in a folder next to the final
 * one and end with a rename, so that another process or machine sees a whole repository or none.
 * Errors: GitError.
 */
export class Repositories {
  constructor(
    private readonly storages: ReadonlyMap<string, string>,
    private readonly tools: GitTools,
  ) {}

  /** Opens a repository without touching the disk. Errors: GitError `invalid` for an unknown storage or odd path. */
  open(address: RepositoryAddress): Repository {
    const folder = this.storages.get(address.storage);
    if (folder === undefined) throw invalidGitArgument('The repository storage is not configured.');
    if (!HASHED.test(address.path)) throw invalidGitArgument('The path of the repository is invalid.');
    return new Repository(address, join(folder, address.path), this.tools);
  }

  exists(address: RepositoryAddress): Promise<boolean> {
    return pathExists(join(this.open(address).directory, 'HEAD'));
  }

  /**
   * Creates a bare repository, or returns the one that exists. `fill` writes into the new one before others see it.
   * Without `fill` it is empty.
   */
  async create(
    address: RepositoryAddress,
    options: { readonly defaultBranch: string },
    fill?: (repository: Repository) => Promise<void>,
  ): Promise<Repository> {
    const branch = refName(`refs/heads/${options.defaultBranch}`).slice('refs/heads/'.length);
    return this.createRepository(address, async (folder) => {
      const args = ['init', '--quiet', '--bare', '--template=', `--initial-branch=${branch}`, '--', folder];
      await this.tools.processes.run({ args });
      await fill?.(new Repository(address, folder, this.tools));
    });
  }

  /** Removes a repository. A missing one is no error. The folder disappears at once, its files follow. */
  async remove(address: RepositoryAddress): Promise<void> {
    const { directory } = this.open(address);
    const gone = join(dirname(directory), unfinishedRepositoryFolderName('gone'));
    try {
      await rename(directory, gone);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    this.tools.readers.close(directory);
    await rm(gone, { recursive: true, force: true });
  }

  /**
   * Deletes folders, temporary files and `.keep` files that killed processes left in creations, removals and writes, in
   * one storage. Returns their number. A job calls it with an age above the longest push.
   */
  async sweep(storage: string, olderThanMs: number): Promise<number> {
    const root = this.storages.get(storage);
    if (root === undefined) throw invalidGitArgument('The repository storage is not configured.');
    let count = 0;
    for (const first of await listFolderEntryNames(join(root, '@hashed'))) {
      for (const second of await listFolderEntryNames(join(root, '@hashed', first))) {
        const folder = join(root, '@hashed', first, second);
        for (const name of await listFolderEntryNames(folder)) {
          if (UNFINISHED.test(name)) count += await removeFolderIfOld(join(folder, name), olderThanMs);
          else count += await removeUnfinishedObjects(join(folder, name, 'objects'), olderThanMs);
        }
      }
    }
    return count;
  }

  /**
   * Runs a step with an empty repository in a folder of its own below the folder for temporary files, which is removed
   * at the end.
   */
  async useScratch<T>(step: (repository: Repository) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), SCRATCH));
    try {
      const directory = join(folder, 'scratch.git');
      const args = ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--', directory];
      await this.tools.processes.run({ args });
      await writeFile(join(directory, 'config'), OWN_CONFIG);
      return await step(new Repository({ storage: 'scratch', path: directory }, directory, this.tools));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Deletes scratch repositories of killed processes. A job calls it with an age above the longest step. */
  async sweepScratch(olderThanMs: number): Promise<number> {
    let count = 0;
    for (const name of await listFolderEntryNames(tmpdir())) {
      if (name.startsWith(SCRATCH)) count += await removeFolderIfOld(join(tmpdir(), name), olderThanMs);
    }
    return count;
  }

  private async createRepository(
    address: RepositoryAddress,
    fillFolder: (folder: string) => Promise<void>,
  ): Promise<Repository> {
    const repository = this.open(address);
    if (await pathExists(join(repository.directory, 'HEAD'))) return repository;
    const parent = dirname(repository.directory);
    await mkdir(parent, { recursive: true });
    const folder = join(parent, unfinishedRepositoryFolderName('new'));
    try {
      await fillFolder(folder);
      await writeFile(join(folder, 'config'), OWN_CONFIG);
      await flushToDisk(join(folder, 'config'), folder);
      await rename(folder, repository.directory);
      await flushToDisk(parent);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
      // Another caller has created it meanwhile.
    }
    return repository;
  }
}

function unfinishedRepositoryFolderName(kind: 'new' | 'gone'): string {
  return `+${kind}+${randomBytes(8).toString('hex')}`;
}

async function removeUnfinishedObjects(objects: string, olderThanMs: number): Promise<number> {
  let count = 0;
  for (const name of await listFolderEntryNames(objects)) {
    if (name.startsWith('tmp_objdir-')) count += await removeFolderIfOld(join(objects, name), olderThanMs);
  }
  for (const name of await listFolderEntryNames(join(objects, 'pack'))) {
    if (UNFINISHED_PACK.test(name)) count += await removeFolderIfOld(join(objects, 'pack', name), olderThanMs);
  }
  return count;
}

/** Removes a folder unless it is young or gone. Returns the number of removed folders. */
async function removeFolderIfOld(folder: string, olderThanMs: number): Promise<number> {
  const found = await stat(folder).catch(() => null);
  if (!found || Date.now() - found.mtimeMs < olderThanMs) return 0;
  await rm(folder, { recursive: true, force: true });
  return 1;
}

async function flushToDisk(...paths: string[]): Promise<void> {
  for (const path of paths) {
    const handle = await open(path, 'r');
    await handle.sync().finally(() => handle.close());
  }
}

async function listFolderEntryNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ENOTDIR')
      return [];
    throw error;
  }
}

async function pathExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
