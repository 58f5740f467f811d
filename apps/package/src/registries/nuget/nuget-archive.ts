import type { BlobStorage } from '@rookery/blobs';
import { Refused, Unavailable } from '@rookery/kernel';
import type { ZipFile } from 'yauzl';
import { openStoredZip, mapBlobErrorToUnavailable } from '../../packages/archives/stored-zip';
import type { StoredArchive } from '../../packages/archives/stored-zip';
import { nugetValidationRefusal } from './nuspec';

/** Maximum number of files in a package. */
const MAX_ENTRIES = 10_000;

/**
 * Reads from a stored package, and closes it. Errors: those of `read`; Refused for a file that is no archive, or one with
 * more than 10,000 entries; Unavailable without the store.
 */
export async function readNugetArchive<T>(
  blobs: BlobStorage,
  archive: StoredArchive,
  read: (zip: ZipFile) => Promise<T>,
): Promise<T> {
  try {
    const zip = await openStoredZip(blobs, archive);
    try {
      if (zip.entryCount > MAX_ENTRIES) throw nugetValidationRefusal('the package has too many files');
      return await read(zip);
    } finally {
      zip.close();
    }
  } catch (caught) {
    const error = mapBlobErrorToUnavailable(caught);
    if (error instanceof Refused || error instanceof Unavailable) throw error;
    throw nugetValidationRefusal('the file is no package');
  }
}
