import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { BlobStorage } from '@rookery/blobs';
import { NotFound } from '@rookery/kernel';
import type { Entry, ZipFile } from 'yauzl';
import {
  listEntries,
  isReadableZipEntry,
  openStoredZip,
  openEntry,
  mapBlobErrorToUnavailable,
} from '../../../packages/archives/stored-zip';
import type { StoredArchive } from '../../../packages/archives/stored-zip';
import { nugetValidationRefusal } from '../nuspec';
import { readNugetArchive } from '../nuget-archive';
import { identifyPdb } from './portable-pdb';
import type { PdbIdentity } from './portable-pdb';

/** A file of symbols in an archive. Units: `size` in bytes. */
export interface SymbolFile extends PdbIdentity {
  /** Path inside the archive. */
  readonly entryName: string;
  readonly size: number;
}

const MAX_SYMBOL_FILES = 100;
/** Largest inflated size of all symbol files in an archive. Units: bytes. */
const MAX_TOTAL_BYTES = 256 * 1024 ** 2;
const MAX_MS = 30_000;
/** Longest path. It is part of a primary key, and PostgreSQL limits the size of index rows. Units: bytes. */
const MAX_NAME_BYTES = 1000;
const NAME = /^(?:[^\u0000-\u001f\u007f]*\/)?[^\u0000-\u001f\u007f/]{1,251}\.pdb$/i;

/** Reads files of symbols inside stored archives. */
@Injectable()
export class SymbolReader {
  constructor(private readonly blobs: BlobStorage) {}

  /**
   * The files of symbols that debuggers may ask for: those in the portable format. Bounds: 100 files, 256 MiB inflated.
   * Errors: Refused beyond them and for a file that is no archive, Unavailable without the store.
   */
  async listSymbols(archive: StoredArchive): Promise<readonly SymbolFile[]> {
    const signal = AbortSignal.timeout(MAX_MS);
    return readNugetArchive(this.blobs, archive, async (zip) =>
      identifySymbolFiles(zip, await listSymbolEntries(zip, signal), signal),
    );
  }

  /** Opens the bytes of a file that was listed. Units: `size` in bytes. Errors: NotFound without the file; Unavailable. */
  async openSymbol(
    archive: StoredArchive,
    { entryName, size }: Omit<SymbolFile, keyof PdbIdentity>,
  ): Promise<Readable> {
    const zip = await openStoredZip(this.blobs, archive);
    try {
      const isWanted = (one: Entry): boolean => one.fileName === entryName && isSymbolFile(one);
      const [entry] = await listEntries(zip, isWanted, AbortSignal.timeout(MAX_MS));
      if (entry?.uncompressedSize !== size) throw new NotFound('Symbol');
      return await openEntry(zip, entry);
    } catch (error) {
      zip.close();
      throw mapBlobErrorToUnavailable(error);
    }
  }
}

function isSymbolFile(entry: Entry): boolean {
  return Buffer.byteLength(entry.fileName) <= MAX_NAME_BYTES && NAME.test(entry.fileName) && isReadableZipEntry(entry);
}

async function listSymbolEntries(zip: ZipFile, signal: AbortSignal): Promise<readonly Entry[]> {
  const entries = await listEntries(zip, isSymbolFile, signal);
  if (entries.length > MAX_SYMBOL_FILES) throw nugetValidationRefusal('the package has too many symbol files');
  if (entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0) > MAX_TOTAL_BYTES)
    throw nugetValidationRefusal('symbol files are too large');
  return entries;
}

/** A path that occurs twice counts once. */
async function identifySymbolFiles(
  zip: ZipFile,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<SymbolFile[]> {
  const found: SymbolFile[] = [];
  const byName = new Map([...entries].reverse().map((entry) => [entry.fileName, entry]));
  for (const [entryName, entry] of byName) {
    signal.throwIfAborted();
    const identity = await identifyPdb(await zip.openReadStreamPromise(entry));
    if (identity !== null) found.push({ entryName, size: entry.uncompressedSize, ...identity });
  }
  return found;
}

/** Key of a file name for debuggers, which write it in any case. */
export function toSymbolFileKey(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}
