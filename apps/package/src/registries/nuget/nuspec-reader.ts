import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { BlobStorage } from '@rookery/blobs';
import type { Entry, ZipFile } from 'yauzl';
import { listEntries, isReadableZipEntry } from '../../packages/archives/stored-zip';
import type { StoredArchive } from '../../packages/archives/stored-zip';
import { nugetValidationRefusal } from './nuspec';
import { readNugetArchive } from './nuget-archive';

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
  async readNuspec(archive: StoredArchive): Promise<Buffer> {
    const signal = AbortSignal.timeout(MAX_MS);
    return readNugetArchive(this.blobs, archive, async (zip) =>
      buffer(await zip.openReadStreamPromise(await findNuspecEntry(zip, signal))),
    );
  }
}

async function findNuspecEntry(zip: ZipFile, signal: AbortSignal): Promise<Entry> {
  const [entry, ...more] = await listEntries(zip, ({ fileName }) => /^[^/]+\.nuspec$/i.test(fileName), signal);
  if (!entry) throw nugetValidationRefusal('the package has no nuspec');
  if (more.length > 0) throw nugetValidationRefusal('the package has several nuspec files');
  if (entry.uncompressedSize > MAX_NUSPEC_BYTES) throw nugetValidationRefusal('nuspec is too large');
  if (!isReadableZipEntry(entry)) throw nugetValidationRefusal('the package has no nuspec');
  return entry;
}
