import type { Readable } from 'node:stream';
import { BlobError } from '@rookery/blobs';
import type { BlobStorage } from '@rookery/blobs';
import { Unavailable } from '@rookery/kernel';
import { fromRandomAccessReaderPromise } from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';
import { BlobReader } from './blob-reader';

/** A stored archive. Units: `size` in bytes. */
export interface StoredArchive {
  readonly sha256: string;
  readonly size: number;
}

/** Mask for the kind of an entry in its mode, and the kind of a link. */
const [KIND, LINK] = [0o170000, 0o120000];

/**
 * Opens a stored zip archive, of which only the central directory is read. The caller closes it.
 * Errors: Unavailable without the store; those of the parser for other bytes.
 */
export async function openStoredZip(blobs: BlobStorage, { sha256, size }: StoredArchive): Promise<ZipFile> {
  try {
    const options = { strictFileNames: true, autoClose: false };
    return await fromRandomAccessReaderPromise(new BlobReader(blobs, sha256), size, options);
  } catch (error) {
    throw mapBlobErrorToUnavailable(error);
  }
}

/** The entries of an archive for which `isWanted` holds. Errors: those of the parser; the reason of the signal. */
export async function listEntries(
  zip: ZipFile,
  isWanted: (entry: Entry) => boolean,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    if (isWanted(entry)) found.push(entry);
  }
  return found;
}

/** Whether an entry is a file whose bytes can be read: neither encrypted nor a link. */
export function isReadableZipEntry(entry: Entry): boolean {
  return !entry.isEncrypted() && ((entry.externalFileAttributes >>> 16) & KIND) !== LINK;
}

/** Opens the inflated bytes of an entry. The archive closes with the stream. */
export async function openEntry(zip: ZipFile, entry: Entry): Promise<Readable> {
  const stream = await zip.openReadStreamPromise(entry);
  return stream.once('close', () => zip.close());
}

/** The error, or Unavailable if it says that the store cannot be reached. */
export function mapBlobErrorToUnavailable(error: unknown): unknown {
  if (!(error instanceof BlobError) || error.reason !== 'unavailable') return error;
  return Object.assign(new Unavailable('blobs away'), { cause: error });
}
