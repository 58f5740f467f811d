import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { BlobError, BlobStorage } from '@rookery/blobs';
import { Refused, Unavailable } from '@rookery/kernel';
import { fromRandomAccessReaderPromise } from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';
import { BlobReader } from '../../packages/archives/blob-reader';
import { invalid } from './nuspec';

/** A stored archive. Units: `size` in bytes. */
export interface StoredArchive {
  readonly sha256: string;
  readonly size: number;
}

const MAX_ENTRIES = 10_000;
const MAX_NUSPEC_BYTES = 4 * 1024 ** 2;
const MAX_MS = 10_000;
/** Mask for the kind of an entry in its mode, and the kind of a link. */
const [KIND, LINK] = [0o170000, 0o120000];

/** Reads the description at the root of a stored package. Only this entry is inflated. */
@Injectable()
export class NuspecReader {
  constructor(private readonly blobs: BlobStorage) {}

  /**
   * Bounds: 4 MiB among 10,000 entries. Errors: Refused for a file that is no archive with one description, Unavailable
   * without the store.
   */
  async read({ sha256, size }: StoredArchive): Promise<Buffer> {
    const signal = AbortSignal.timeout(MAX_MS);
    try {
      const options = { strictFileNames: true, autoClose: false };
      const zip = await fromRandomAccessReaderPromise(new BlobReader(this.blobs, sha256), size, options);
      try {
        return await buffer(await zip.openReadStreamPromise(await nuspecEntry(zip, signal)));
      } finally {
        zip.close();
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
      if (error instanceof BlobError && error.reason === 'unavailable')
        throw Object.assign(new Unavailable('blobs away'), { cause: error });
      throw invalid('the file is no package');
    }
  }
}

async function nuspecEntry(zip: ZipFile, signal: AbortSignal): Promise<Entry> {
  if (zip.entryCount > MAX_ENTRIES) throw invalid('the package has too many files');
  const found: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    if (/^[^/]+\.nuspec$/i.test(entry.fileName)) found.push(entry);
  }
  const [entry] = found;
  if (!entry) throw invalid('the package has no nuspec');
  if (found.length > 1) throw invalid('the package has several nuspec files');
  const isLink = ((entry.externalFileAttributes >>> 16) & KIND) === LINK;
  if (entry.uncompressedSize > MAX_NUSPEC_BYTES) throw invalid('nuspec is too large');
  if (entry.isEncrypted() || isLink) throw invalid('the package has no nuspec');
  return entry;
}
