import { pipeline } from 'node:stream';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EgressError } from './egress-error';

/** Maximum number of bytes of output per compressed byte. */
const MAX_RATIO = 100;
/** Bodies up to this size are exempt from the ratio: a page of blanks compresses very well. Units: bytes. */
const FREE_BYTES = 64 * 1024;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * Yields a body, decompressed. The caller must listen to the errors of a body that is destroyed early.
 * Bounds: `maxBytes` of decompressed output, where decompression stops; one content encoding, not several in a row.
 * Errors: EgressError `too large`, `malformed`; errors of the stream.
 */
export async function* decompressBoundedBody(
  body: Readable,
  encoding: string,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const meter = new ByteMeter(body);
  let decoder: Transform | null = null;
  let size = 0;
  try {
    decoder = createBodyDecoder(encoding);
    // Errors of the pipeline reach the reader of its last stream.
    const source = decoder ? pipeline(meter, decoder, () => undefined) : meter;
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new EgressError('too large', `The answer is larger than ${maxBytes} bytes.`);
      if (decoder && size > FREE_BYTES + meter.received * MAX_RATIO) {
        throw new EgressError('too large', 'The answer is packed more tightly than any honest one.');
      }
      yield chunk;
    }
  } catch (error) {
    if (error instanceof EgressError || decoder === null || meter.isBroken) throw error;
    throw new EgressError('malformed', 'The answer cannot be unpacked.', { cause: error });
  } finally {
    decoder?.destroy();
    body.destroy();
  }
}

function createBodyDecoder(encoding: string): Transform | null {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return null;
  const make = DECODERS.get(name);
  if (!make) throw new EgressError('malformed', 'The answer is packed in a way that was not asked for.');
  return make();
}

/** Counts received bytes, and records whether the connection broke. */
class ByteMeter implements AsyncIterable<Buffer> {
  received = 0;
  isBroken = false;

  constructor(private readonly body: Readable) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.body as AsyncIterable<Buffer>) {
        this.received += chunk.length;
        yield chunk;
      }
    } catch (error) {
      this.isBroken = true;
      throw error;
    }
  }
}
