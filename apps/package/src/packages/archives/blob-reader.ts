import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BlobStorage } from '@rookery/blobs';
import { RandomAccessReader } from 'yauzl';

const WINDOW_BYTES = 128 * 1024;

/** Reads a stored file for yauzl, whose many small reads are served from one window of memory. */
export class BlobReader extends RandomAccessReader {
  private window: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };

  constructor(
    private readonly blobs: BlobStorage,
    private readonly key: string,
  ) {
    super();
  }

  override read(buffer: Buffer, offset: number, length: number, position: number, done: (error: Error | null) => void) {
    this.loadRange(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset);
        done(bytes.length < length ? new Error('unexpected end of the archive') : null);
      },
      (error: unknown) => done(error as Error),
    );
  }

  /** `end` is exclusive. */
  override _readStreamForRange(start: number, end: number): Readable {
    const stream = new PassThrough();
    this.blobs
      .open(this.key, { start, end: end - 1 })
      .then(async ({ body }) => {
        if (!stream.destroyed) return pipeline(body, stream);
        // pipeline would not close a source whose target is destroyed.
        body.destroy();
      })
      .catch((error: unknown) => stream.destroy(error as Error));
    return stream;
  }

  private async loadRange(position: number, length: number): Promise<Buffer> {
    const { start, bytes } = this.window;
    const isIn = position >= start && position + length <= start + bytes.length;
    if (!isIn) {
      const end = position + Math.max(length, WINDOW_BYTES) - 1;
      this.window = { start: position, bytes: await this.blobs.readRange(this.key, { start: position, end }) };
    }
    const from = position - this.window.start;
    return this.window.bytes.subarray(from, from + length);
  }
}
