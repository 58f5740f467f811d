import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

/** The entry that is wanted from a tarball, and the bounds of the search. Units: bytes. */
export interface TarEntryQuery {
  /** Matches the whole name of the entry. */
  readonly name: RegExp;
  readonly maxEntryBytes: number;
  readonly maxEntries: number;
  /** Bytes that any tarball may have inflated before the entry. Beyond them, a multiple of its own bytes counts. */
  readonly freeInflatedBytes: number;
  readonly maxRatio: number;
  /** Whether bytes without gzip compression are not accepted as a tarball. */
  readonly isAlwaysGzip?: true;
  /** Error for a tarball beyond the bounds, behind which an entry could hide. */
  readonly refusal: () => Error;
}

const GZIP_MAGIC = 0x1f8b;

/** An archive beyond its bounds. `cause` is the error of the caller. */
class ArchiveBoundsExceeded extends Error {}

/**
 * Reads the first plain file of a tarball whose name matches, and no further. Returns null if the bytes are not a tarball
 * or have no such file. Nothing is written to a disk. Errors: `wanted.refusal`.
 */
export async function readTarEntry(bytes: Readable, wanted: TarEntryQuery): Promise<Buffer | null> {
  const entries = extract();
  const closed = pipeline(bytes, (source: AsyncIterable<Buffer>) => inflateWithinBounds(source, wanted), entries);
  closed.catch(() => undefined);
  let count = 0;
  try {
    for await (const entry of entries) {
      if (++count > wanted.maxEntries) throw createBoundsError(wanted);
      const { name, type, size } = entry.header;
      if (type !== 'file' || !wanted.name.test(name)) {
        entry.resume();
        continue;
      }
      if ((size ?? Infinity) > wanted.maxEntryBytes) throw createBoundsError(wanted);
      return await readEntryContent(entry as unknown as Readable);
    }
    return null;
  } catch (error) {
    if (error instanceof ArchiveBoundsExceeded) throw error.cause;
    return null;
  } finally {
    bytes.destroy();
    entries.destroy();
    await closed.catch(() => undefined);
  }
}

function createBoundsError({ refusal }: TarEntryQuery): ArchiveBoundsExceeded {
  return new ArchiveBoundsExceeded('archive beyond its bounds', { cause: refusal() });
}

/** Yields the bytes of the archive, inflated if it is gzip. Errors: ArchiveBoundsExceeded. */
async function* inflateWithinBounds(source: AsyncIterable<Buffer>, wanted: TarEntryQuery): AsyncGenerator<Buffer> {
  const facts = { read: 0 };
  const chunks = countBytes(source, facts);
  const { value: first } = await chunks.next();
  if (!first) return;
  const whole = prependChunk(first, chunks);
  const isGzip = first.length >= 2 && first.readUInt16BE(0) === GZIP_MAGIC;
  if (!isGzip && wanted.isAlwaysGzip) return;
  if (!isGzip) return yield* whole;
  const gunzip = createGunzip();
  // Its failure is that of the reader below.
  pipeline(whole, gunzip).catch(() => undefined);
  let size = 0;
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > Math.max(wanted.freeInflatedBytes, wanted.maxRatio * facts.read)) throw createBoundsError(wanted);
    yield chunk;
  }
}

async function* countBytes(source: AsyncIterable<Buffer>, facts: { read: number }): AsyncGenerator<Buffer, undefined> {
  for await (const chunk of source) {
    facts.read += chunk.length;
    yield chunk;
  }
  return undefined;
}

async function* prependChunk(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function readEntryContent(entry: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of entry as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts);
}
