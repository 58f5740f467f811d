import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { BlobStorage } from '@rookery/blobs';
import { Refused, Unavailable } from '@rookery/kernel';
import type { Entry, ZipFile } from 'yauzl';
import { entriesOf, isPlainFile, openStoredZip, unavailableIfAway } from '../../packages/archives/stored-zip';
import type { StoredArchive } from '../../packages/archives/stored-zip';
import { invalid } from './nuspec';

/** Most files in a package. */
export const MAX_ENTRIES = 10_000;
const MAX_NUSPEC_BYTES = 512 * 1024;
const MAX_MS = 10_000;

/** Reads the description at the root of a stored package. Only this entry is inflated. */
@Injectable()
export class NuspecReader {
  constructor(private readonly blobs: BlobStorage) {}

  /**
   * Bounds: 512 KiB among 10,000 entries. Errors: Refused for a file that is no archive with one description, Unavailable
   * without the store.
   */
  async read(archive: StoredArchive): Promise<Buffer> {
    const signal = AbortSignal.timeout(MAX_MS);
    try {
      const zip = await openStoredZip(this.blobs, archive);
      try {
        return await buffer(await zip.openReadStreamPromise(await nuspecEntry(zip, signal)));
      } finally {
        zip.close();
      }
    } catch (caught) {
      const error = unavailableIfAway(caught);
      if (error instanceof Refused || error instanceof Unavailable) throw error;
      throw invalid('the file is no package');
    }
  }
}

async function nuspecEntry(zip: ZipFile, signal: AbortSignal): Promise<Entry> {
  if (zip.entryCount > MAX_ENTRIES) throw invalid('the package has too many files');
  const [entry, ...more] = await entriesOf(zip, ({ fileName }) => /^[^/]+\.nuspec$/i.test(fileName), signal);
  if (!entry) throw invalid('the package has no nuspec');
  if (more.length > 0) throw invalid('the package has several nuspec files');
  if (entry.uncompressedSize > MAX_NUSPEC_BYTES) throw invalid('nuspec is too large');
  if (!isPlainFile(entry)) throw invalid('the package has no nuspec');
  return entry;
}
