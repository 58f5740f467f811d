import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { isBlobKey } from './blob-key';
import type { BlobStore, StoredObject } from './blob-store';
import { MARKS } from './blob-publisher';

export interface SweepOptions {
  /** Answers those of the keys that a row refers to. Bounds: at most `pageSize` keys a call. */
  readonly findReferenced: (keys: readonly string[]) => Promise<Iterable<string>>;
  /** Younger files are kept, because their row may not be committed yet. Default: 24 hours. */
  readonly olderThanMs?: number;
  /** Default 500. */
  readonly pageSize?: number;
  readonly signal?: AbortSignal;
}

export interface SweepResult {
  /** Files that were old enough to be asked about. */
  readonly examined: number;
  readonly removed: number;
  readonly removedBytes: number;
  /** Temporary files and unfinished uploads that were removed. */
  readonly leftovers: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Less than a quarter of the time after which an upload ignores the mark. */
const MAX_MARKED_MS = 20_000;
/** A removal that takes longer was repeated after a timeout, and the server may still carry out the first request. */
const MAX_REMOVAL_MS = 10_000;

/** Removes orphans page by page. Source: ADR 0182. */
export async function sweepOrphans(store: BlobStore, options: SweepOptions): Promise<SweepResult> {
  const { olderThanMs = DAY_MS, pageSize = 500, signal } = options;
  const before = new Date(Date.now() - olderThanMs);
  const result = { examined: 0, removed: 0, removedBytes: 0, leftovers: 0 };
  for await (const page of batchItems(listOldBlobFiles(store, before), pageSize)) {
    signal?.throwIfAborted();
    const keys = page.map(({ name }) => blobKeyOf(name));
    const referenced = new Set(await options.findReferenced(keys));
    result.examined += page.length;
    for (const file of page) {
      signal?.throwIfAborted();
      if (referenced.has(blobKeyOf(file.name)) || !(await removeBlobIfOld(store, file.name, before))) continue;
      result.removed += 1;
      result.removedBytes += file.size;
    }
  }
  result.leftovers = await removeStaleUploadLeftovers(store, before);
  return result;
}

/**
 * Removes a file unless an upload has refreshed it meanwhile. The mark and the order of steps are those of `BlobPublisher`.
 * A failed or repeated removal may still happen later in the server, so its mark stays until an upload or a sweep finds
 * it stale.
 */
async function removeBlobIfOld(store: BlobStore, name: string, before: Date): Promise<boolean> {
  const mark = `${MARKS}/${blobKeyOf(name)}.${randomUUID()}`;
  const since = performance.now();
  await store.write(mark, Readable.from([]), 0);
  const now = await store.stat(name);
  const mayRemove = now !== null && now.modifiedAt < before && performance.now() - since < MAX_MARKED_MS;
  const removesSince = performance.now();
  if (mayRemove) await store.remove(name);
  if (performance.now() - removesSince < MAX_REMOVAL_MS) await store.remove(mark);
  return mayRemove;
}

async function removeStaleUploadLeftovers(store: BlobStore, before: Date): Promise<number> {
  let removed = await store.discardUnfinished(before);
  for (const folder of ['uploads', MARKS]) {
    for await (const { name, modifiedAt } of store.list(folder)) {
      if (modifiedAt >= before) continue;
      await store.remove(name);
      removed += 1;
    }
  }
  return removed;
}

async function* listOldBlobFiles(store: BlobStore, before: Date): AsyncGenerator<StoredObject> {
  for await (const file of store.list('files')) {
    if (isBlobKey(blobKeyOf(file.name)) && file.modifiedAt < before) yield file;
  }
}

async function* batchItems<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const item of items) {
    if (page.push(item) < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function blobKeyOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
