import { pipeline } from 'node:stream';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { EgressError } from './egress-error';

/** How much more may come out of a packed body than went in. */
const MAX_RATIO = 100;
/** Small bodies are let be: a page of blanks is no bomb. */
const FREE_BYTES = 64 * 1024;

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * Reads a body whole, unpacked. Bounds: `maxBytes`, counted as they come out of unpacking, which is broken off there;
 * one way of packing, not several on one another. Shape: somebody else listens to the errors of a body that is broken off.
 * Errors: EgressError `too large`, `malformed`; whatever breaks the stream.
 */
export async function boundedBody(body: Readable, encoding: string, maxBytes: number): Promise<Buffer> {
  const meter = new Meter(body);
  let decoder: Transform | null = null;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    decoder = decoderOf(encoding);
    // The errors of a pipeline reach whoever reads its end.
    const source = decoder ? pipeline(meter, decoder, () => undefined) : meter;
    for await (const chunk of source as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new EgressError('too large', `The answer is larger than ${maxBytes} bytes.`);
      if (decoder && size > FREE_BYTES + meter.received * MAX_RATIO) {
        throw new EgressError('too large', 'The answer is packed more tightly than any honest one.');
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof EgressError || decoder === null || meter.isBroken) throw error;
    throw new EgressError('malformed', 'The answer cannot be unpacked.', { cause: error });
  } finally {
    decoder?.destroy();
    body.destroy();
  }
  return Buffer.concat(chunks, size);
}

function decoderOf(encoding: string): Transform | null {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return null;
  const make = DECODERS.get(name);
  if (!make) throw new EgressError('malformed', 'The answer is packed in a way that was not asked for.');
  return make();
}

/** Counts what arrives, and knows whether it was the connection that broke. */
class Meter implements AsyncIterable<Buffer> {
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
