import { Injectable } from '@nestjs/common';
import { BlobStorage } from '@rookery/blobs';
import { fromRandomAccessReaderPromise } from 'yauzl';
import type { Entry, ZipFile } from 'yauzl';
import { BlobReader } from '../../packages/archives/blob-reader';
import type { StoredFile } from '../../packages/package-files';
import { nameKeyOf } from '../../packages/package-types';
import { normalizePypiVersion } from './python-version';

/** Stored core metadata of a wheel. Units: `size` in bytes. */
export interface WheelMetadata {
  readonly sha256: string;
  readonly size: number;
}

const MAX_ENTRIES = 10_000;
const MAX_METADATA_BYTES = 4 * 1024 ** 2;
const MAX_MS = 10_000;

/**
 * Stores the core metadata of uploaded wheels next to them, so that installers need not read the wheels themselves
 * (PEP 658). Source: reference packages-and-admin 4.5.
 */
@Injectable()
export class WheelMetadataStore {
  constructor(private readonly blobs: BlobStorage) {}

  /** Returns null for a file that is no readable wheel of this name; that is no reason to refuse it. Never fails. */
  async extractMetadata(fileName: string, { key, size }: StoredFile): Promise<WheelMetadata | null> {
    const wheel = /^([^-]+)-([^-]+)-.+\.whl$/.exec(fileName);
    if (!wheel) return null;
    const signal = AbortSignal.timeout(MAX_MS);
    try {
      const options = { strictFileNames: true, autoClose: false };
      const zip = await fromRandomAccessReaderPromise(new BlobReader(this.blobs, key), size, options);
      try {
        const entry = await findWheelMetadataEntry(zip, wheel[1]!, wheel[2]!, signal);
        if (entry === null) return null;
        const source = await zip.openReadStreamPromise(entry);
        const stored = await this.blobs.put(source, { maxBytes: MAX_METADATA_BYTES, signal });
        return { sha256: stored.sha256, size: stored.size };
      } finally {
        zip.close();
      }
    } catch {
      return null;
    }
  }
}

/**
 * The only entry `<name>-<version>.dist-info/METADATA`. Null if there is none or several, if it is encrypted or too
 * large, or if the archive has too many entries.
 */
async function findWheelMetadataEntry(
  zip: ZipFile,
  name: string,
  version: string,
  signal: AbortSignal,
): Promise<Entry | null> {
  if (zip.entryCount > MAX_ENTRIES) return null;
  const found: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    const folder = /^([^/-]+)-([^/]+)\.dist-info\/METADATA$/.exec(entry.fileName);
    if (!folder) continue;
    const isOwn = nameKeyOf('pypi', folder[1]!) === nameKeyOf('pypi', name) && isSamePypiVersion(folder[2]!, version);
    if (isOwn) found.push(entry);
  }
  const [entry] = found;
  return found.length === 1 && entry!.uncompressedSize <= MAX_METADATA_BYTES && !entry!.isEncrypted() ? entry! : null;
}

function isSamePypiVersion(version: string, other: string): boolean {
  const key = normalizePypiVersion(version);
  return version === other || (key !== null && key === normalizePypiVersion(other));
}
