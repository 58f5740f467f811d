import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';

/** Passes bytes on, reports progress, and stops at a limit. Units: bytes. */
export class ProcessOutputMeter extends Transform {
  private passed = 0;

  constructor(
    private readonly limit: number,
    private readonly progressed: () => void,
    private readonly exceeded: () => void,
  ) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.passed += chunk.length;
    this.progressed();
    if (this.passed > this.limit) {
      this.exceeded();
      done();
      return;
    }
    done(null, chunk);
  }
}
