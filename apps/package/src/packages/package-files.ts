import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { BlobError, BlobStorage } from '@rookery/blobs';
import type { BlobRange, DigestName, OpenBlob, StoredBlob } from '@rookery/blobs';
import { NotFound, Refused, Unavailable } from '@rookery/kernel';
import { DownloadLog } from './downloads/download-log';
import type { PackageFileRow } from './listing/packages.queries';

/** Content of an uploaded file with the digests that the API shows. */
export type StoredFile = StoredBlob<'md5' | 'sha1'>;

/** Largest file of the blob store, for plans without a limit. Units: bytes. */
export const MAX_FILE_BYTES = 100 * 1024 ** 3;

/** Stores and opens the content of package files. */
@Injectable()
export class PackageFiles {
  constructor(
    private readonly blobs: BlobStorage,
    private readonly downloads: DownloadLog,
  ) {}

  /**
   * Stores an upload while it arrives. The sweep removes it unless a row names it within a day. `more` are digests that
   * few uploads need. Units: bytes. Errors: Refused `File is too large`; Unavailable; the error of the source.
   */
  async storeFile<N extends DigestName = never>(
    source: Readable,
    maxBytes: number,
    more: readonly N[] = [],
  ): Promise<StoredBlob<'md5' | 'sha1' | N>> {
    try {
      return await this.blobs.put(source, { maxBytes, digests: ['md5', 'sha1', ...more] });
    } catch (error) {
      if (error instanceof BlobError && error.reason === 'too large') throw new Refused('File is too large');
      if (error instanceof BlobError && error.reason === 'source') throw error.cause ?? error;
      throw toUnavailableIfBlobStoreDown(error);
    }
  }

  /**
   * Opens the content of a file, or a part of it; both ends are inclusive. A download counts for `last_downloaded_at` if it
   * begins with the first byte. Errors: NotFound without content; Unavailable.
   */
  async openFile({ sha256, package_id }: PackageFileRow, range: BlobRange | null): Promise<Readable> {
    const { body } = await this.openBlob(sha256, range ?? {});
    if (!range?.start) this.downloads.recordDownload(package_id);
    return body;
  }

  /** Counts a download of a package whose files are not stored. */
  recordDownload(packageId: number): void {
    this.downloads.recordDownload(packageId);
  }

  /** Opens stored content that belongs to a file but is no download of it. Errors: as `openFile`. */
  async openAttached(key: string, range: BlobRange | null): Promise<Readable> {
    return (await this.openBlob(key, range ?? {})).body;
  }

  /** Opens content that was stored just now, without counting a download. Errors: NotFound; Unavailable. */
  async reopenStored({ sha256 }: StoredFile): Promise<Readable> {
    return (await this.openBlob(sha256, {})).body;
  }

  /**
   * Reads a document that answers are made from, which does not count as a download. Units: bytes.
   * Errors: NotFound without content; Unavailable; a plain Error beyond the bound.
   */
  async readFile({ sha256, size }: Pick<PackageFileRow, 'sha256' | 'size'>, maxBytes: number): Promise<Buffer> {
    if (size > maxBytes) throw new Error(`a document has ${size} bytes, more than ${maxBytes}`);
    return buffer((await this.openBlob(sha256, {})).body);
  }

  private async openBlob(key: string, range: BlobRange): Promise<OpenBlob> {
    try {
      return await this.blobs.open(key, range);
    } catch (error) {
      if (error instanceof BlobError && error.reason === 'not found') throw new NotFound();
      throw toUnavailableIfBlobStoreDown(error);
    }
  }
}

function toUnavailableIfBlobStoreDown(error: unknown): unknown {
  if (!(error instanceof BlobError) || error.reason !== 'unavailable') return error;
  return Object.assign(new Unavailable('blobs away'), { cause: error });
}
