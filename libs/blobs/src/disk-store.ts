import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import type { Stats } from 'node:fs';
import { link, lstat, mkdir, open, opendir, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BlobError } from './blob-error';
import type { BlobStore, ByteRange, OpenObject, StoredObject } from './blob-store';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Objects as files of a local disk: `<root>/files/ab/abcd…`, other folders without a level between. Files have mode 0600,
 * folders 0700, and symbolic links below the root are not followed. A file and its folder are written through to the disk
 * before an operation answers.
 */
export class DiskStore implements BlobStore {
  private readonly root: string;

  /** `root` is an absolute path. */
  constructor(root: string) {
    this.root = resolve(root);
  }

  async write(name: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.filePath(name);
    await translateFileErrors(async () => {
      await this.makeFolder(dirname(path));
      const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
      try {
        for await (const chunk of body) await writeAll(file, chunk);
        await file.sync();
      } catch (error) {
        await unlink(path).catch(() => undefined);
        throw error;
      } finally {
        await file.close();
      }
    });
  }

  /** A second name of the same file, put over the old name. The rename replaces it in one step. */
  async copy(from: string, to: string): Promise<void> {
    const path = this.filePath(to);
    const staged = this.filePath(`uploads/${randomUUID()}`);
    await translateFileErrors(async () => {
      await this.makeFolder(dirname(path));
      await link(this.filePath(from), staged);
      await rename(staged, path).catch(async (error: unknown) => {
        await unlink(staged).catch(() => undefined);
        throw error;
      });
      await syncFolder(dirname(path));
    });
  }

  async stat(name: string): Promise<StoredObject | null> {
    const stats = await translateFileErrors(() => this.statFile(name));
    return stats && { name, size: stats.size, modifiedAt: stats.mtime };
  }

  async open(name: string, range: ByteRange | null): Promise<OpenObject> {
    if (!(await translateFileErrors(() => this.statFile(name)))) throw missingBlobError();
    const file = await translateFileErrors(() =>
      open(this.filePath(name), O_RDONLY | O_NOFOLLOW).catch(missingFileAsNull),
    );
    if (!file) throw missingBlobError();
    try {
      const { size } = await file.stat();
      if (range && range.start >= size) throw new BlobError('range', `The file ends before byte ${range.start}.`);
      const part = range ? { start: range.start, end: Math.min(range.end ?? Infinity, size - 1) } : {};
      return { body: file.createReadStream({ ...part, autoClose: true }), size };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await translateFileErrors(async () => {
      if (await this.statFile(name)) await unlink(this.filePath(name)).catch(missingFileAsNull);
    });
  }

  async *list(folder: string, start = ''): AsyncGenerator<StoredObject> {
    const path = join(this.root, folder);
    if (folder !== 'files') return yield* this.listFolder(path, folder, start);
    for await (const name of listFileNames(path)) yield* this.listFolder(join(path, name), folder, start);
  }

  /** Does nothing: unfinished writes are temporary files, which the sweep lists and removes like other files. */
  discardUnfinished(): Promise<number> {
    return Promise.resolve(0);
  }

  private async *listFolder(path: string, folder: string, start: string): AsyncGenerator<StoredObject> {
    for await (const file of listFileNames(path)) {
      if (!file.startsWith(start)) continue;
      const stats = await translateFileErrors(() => lstat(join(path, file)).catch(missingFileAsNull));
      if (stats?.isFile()) yield { name: `${folder}/${file}`, size: stats.size, modifiedAt: stats.mtime };
    }
  }

  /** Null when the object is missing, or when it or its folder is not what this class makes. */
  private async statFile(name: string): Promise<Stats | null> {
    const path = this.filePath(name);
    for (let folder = dirname(path); folder !== this.root; folder = dirname(folder)) {
      if (!(await lstat(folder).catch(missingFileAsNull))?.isDirectory()) return null;
    }
    const file = await lstat(path).catch(missingFileAsNull);
    return file?.isFile() ? file : null;
  }

  private filePath(name: string): string {
    const [folder = '', file = ''] = name.split('/');
    return folder === 'files' ? join(this.root, folder, file.slice(0, 2), file) : join(this.root, folder, file);
  }

  /** Makes the missing folders and writes their names through to the disk. */
  private async makeFolder(path: string): Promise<void> {
    const first = await mkdir(path, { recursive: true, mode: FOLDER_MODE });
    for (let own = path; own !== this.root; own = dirname(own)) {
      if (!(await lstat(own)).isDirectory()) throw new Error('A folder of the files is a symbolic link.');
    }
    if (first === undefined) return;
    for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made));
  }
}

async function* listFileNames(path: string): AsyncGenerator<string> {
  const stats = await translateFileErrors(() => lstat(path).catch(missingFileAsNull));
  if (!stats?.isDirectory()) return;
  const folder = await translateFileErrors(() => opendir(path, { bufferSize: 256 }));
  for await (const { name } of folder) yield name;
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.byteLength;) {
    written += (await file.write(chunk, written)).bytesWritten;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function missingBlobError(): BlobError {
  return new BlobError('not found', 'There is no file with this key.');
}

function missingFileAsNull(error: unknown): null {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null;
  throw error;
}

/** Turns errors of the file system into BlobError. */
async function translateFileErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlobError || error instanceof TypeError) throw error;
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new BlobError('unavailable', `The disk of the files does not work (${code}).`, { cause: error });
  }
}
