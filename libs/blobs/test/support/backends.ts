import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobStore } from '../../src/blob-store';
import { BlobStorage } from '../../src/blobs';
import { parseBlobsUrl } from '../../src/blobs-url';
import { DiskStore } from '../../src/disk-store';
import { S3Store } from '../../src/s3-store';
import { CREDENTIALS, startS3Server } from './s3-server';

/** A place of files, empty at first, with a look behind the library. */
export interface Backend {
  readonly url: string;
  readonly blobs: BlobStorage;
  readonly store: BlobStore;
  /** Names of all objects, temporary ones included. */
  names(): Promise<string[]>;
  /** Identifiers of uploads that are not visible as objects. */
  unfinished(): Promise<string[]>;
  setTime(name: string, time: Date): Promise<void>;
  close(): Promise<void>;
}

export async function startDisk(): Promise<Backend & { readonly root: string }> {
  const root = await mkdtemp(join(tmpdir(), 'rookery-blobs-'));
  const store = new DiskStore(root);
  const pathOf = (name: string): string => join(root, name.replace(/^files\/(..)/, 'files/$1/$1'));
  return {
    root,
    url: root,
    store,
    blobs: new BlobStorage(store),
    names: () => storedNames(store),
    unfinished: () => Promise.resolve([]),
    setTime: (name, time) => utimes(pathOf(name), time, time),
    close: () => rm(root, { recursive: true }),
  };
}

export async function startS3(): Promise<Backend> {
  const server = await startS3Server();
  const place = parseBlobsUrl(server.url);
  if (place.kind !== 's3') throw new Error('not an S3 place');
  const store = new S3Store(place, CREDENTIALS);
  return { ...server, store, blobs: new BlobStorage(store), names: () => storedNames(store) };
}

async function storedNames(store: BlobStore): Promise<string[]> {
  const names: string[] = [];
  for (const folder of ['files', 'uploads', 'removing']) {
    for await (const { name } of store.list(folder)) names.push(name);
  }
  return names.sort();
}
