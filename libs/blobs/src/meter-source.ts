import type { Readable } from 'node:stream';
import { BlobError } from './blob-error';
import type { Digests } from './digests';
import type { DigestName } from './digests';

/** Chunks of a source on their way to the store. `result` is complete after the last chunk. */
export interface Meter<N extends DigestName> extends AsyncIterable<Uint8Array> {
  result(): { readonly size: number; readonly digests: Record<N | 'sha256', string> };
}

/**
 * Counts and digests a source while it is read, one chunk at a time.
 * Errors, from the iteration: BlobError `too large` before the chunk that exceeds the limit; `source`.
 */
export function meterSource<N extends DigestName>(source: Readable, maxBytes: number, digests: Digests<N>): Meter<N> {
  let size = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of source as AsyncIterable<Uint8Array>) {
        if (!(chunk instanceof Uint8Array)) throw new TypeError('The source yields something other than bytes.');
        size += chunk.byteLength;
        if (size > maxBytes) throw new BlobError('too large', `The file is larger than ${maxBytes} bytes.`);
        digests.addChunk(chunk);
        yield chunk;
      }
    } catch (error) {
      if (error instanceof BlobError || error instanceof TypeError) throw error;
      throw new BlobError('source', 'The source failed before its end.', { cause: error });
    }
  }
  return { [Symbol.asyncIterator]: chunks, result: () => ({ size, digests: digests.finish() }) };
}
