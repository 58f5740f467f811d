/**
 * Copies of files with their digests, in the format of `sha256sum`, so that damage of a backup is noticed before it is
 * used.
 *
 * @typedef {{ from: string, to: string, sha256?: string }} Copy  absolute paths; with `sha256`, the expected digest
 * @typedef {(bytes: number) => void} Count
 * @typedef {(done: number, total: number) => void} Report
 */
import { createHash } from 'node:crypto';
import { createWriteStream, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Files that are copied at the same time. */
const PARALLEL = 4;

/**
 * All files below a folder as relative paths with `/`, and all folders. A file that is removed meanwhile is left out.
 * @param {string} root
 * @param {(path: string) => boolean} [isWanted]
 * @returns {{ files: { path: string, bytes: number }[], folders: string[] }}
 */
export function treeOf(root, isWanted = () => true) {
  /** @type {{ path: string, bytes: number }[]} */
  const files = [];
  /** @type {string[]} */
  const folders = [];
  /** @param {string} folder */
  const walk = (folder) => {
    for (const name of listSortedNames(join(root, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const status = isWanted(path) ? lstatSync(join(root, path), { throwIfNoEntry: false }) : undefined;
      if (status?.isDirectory()) {
        folders.push(path);
        walk(path);
      } else if (status?.isFile()) files.push({ path, bytes: status.size });
    }
  };
  walk('');
  return { files, folders };
}

/** @param {string} folder */
function listSortedNames(folder) {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * Copies files, a few at a time. Returns the digest of each copy by its target; files that no longer exist are left out,
 * unless a digest is expected. Errors: `<source> is damaged` if a digest differs.
 * @param {Copy[]} copies
 * @param {Count} count
 * @returns {Promise<Map<string, string>>}
 */
export async function copyFiles(copies, count) {
  const waiting = [...copies];
  /** @type {Map<string, string>} */
  const digests = new Map();
  const work = async () => {
    for (let copy = waiting.pop(); copy; copy = waiting.pop()) {
      const digest = await copyFile(copy, count);
      if (digest !== null) digests.set(copy.to, digest);
    }
  };
  const outcomes = await Promise.allSettled(
    Array.from({ length: PARALLEL }, () =>
      work().catch((error) => {
        waiting.length = 0;
        throw error;
      }),
    ),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return digests;
}

/**
 * Copies a file. The source is opened first: if it no longer exists, no target is made, and if it is removed later, the
 * copy is still complete.
 * @param {Copy} copy
 * @param {Count} count
 * @returns {Promise<string | null>}
 */
async function copyFile({ from, to, sha256 }, count) {
  const file = await openIfExists(from, sha256 !== undefined);
  if (file === null) return null;
  const hash = createHash('sha256');
  /** @param {AsyncIterable<Buffer>} source */
  async function* hashed(source) {
    for await (const chunk of source) {
      hash.update(chunk);
      count(chunk.length);
      yield chunk;
    }
  }
  try {
    const mode = 0o600 | ((await file.stat()).mode & 0o100);
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    await pipeline(file.createReadStream(), hashed, createWriteStream(to, { mode }));
  } finally {
    await file.close();
  }
  const digest = hash.digest('hex');
  if (sha256 !== undefined && sha256 !== digest) throw new Error(`${from} is damaged`);
  return digest;
}

/**
 * @param {string} path
 * @param {boolean} isRequired
 * @returns {Promise<import('node:fs/promises').FileHandle | null>} null if the file does not exist and is not required
 */
async function openIfExists(path, isRequired) {
  try {
    return await open(path);
  } catch (error) {
    if (isMissing(error) && !isRequired) return null;
    throw error;
  }
}

/** @param {unknown} error */
function isMissing(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT';
}

/** Progress in bytes, reported at most five times a second. */
export class CopyProgressMeter {
  #done = 0;
  #total = 0;
  #reportedAt = 0;

  /** @param {Report} report */
  constructor(report) {
    this.report = report;
    this.count = (/** @type {number} */ bytes) => this.#addBytes(bytes);
  }

  /** @param {{ bytes: number }[]} files */
  expect(files) {
    this.#total += files.reduce((sum, file) => sum + file.bytes, 0);
  }

  /** @param {number} bytes */
  #addBytes(bytes) {
    this.#done += bytes;
    if (performance.now() - this.#reportedAt < 200) return;
    this.#reportedAt = performance.now();
    this.report(this.#done, Math.max(this.#done, this.#total));
  }
}
