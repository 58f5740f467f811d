import { pipeline, Transform } from 'node:stream';
import type { Readable } from 'node:stream';

type BodyWithMediaType = Readable & { readonly mediaType: string };

/**
 * The body of a push in the form that parsers read. NuGet 2 on Mono ends the last part with a line feed alone, where a
 * carriage return and a line feed belong; other bodies stay as they are. The errors of the body are those of the
 * result.
 */
export function repairMultipartEnding(body: BodyWithMediaType): BodyWithMediaType {
  const boundary = /;\s*boundary="?([^";\s]+)"?/i.exec(body.mediaType)?.[1];
  if (boundary === undefined) return body;
  const proper = new MultipartEndingRepair(Buffer.from(`\n--${boundary}--`));
  pipeline(body, proper, ignoreError);
  return Object.assign(proper, { mediaType: body.mediaType });
}

/** Failures of both streams reach the reader of the result. */
function ignoreError(): void {
  // Nothing is left to do.
}

/** Inserts the carriage return that NuGet 2 on Mono omits before the closing boundary. */
class MultipartEndingRepair extends Transform {
  private held = Buffer.alloc(0);

  constructor(private readonly closing: Buffer) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: string, done: () => void): void {
    const all = Buffer.concat([this.held, chunk]);
    // One byte more than the end, and a line break behind it.
    const kept = Math.min(all.length, this.closing.length + 3);
    this.push(all.subarray(0, all.length - kept));
    this.held = all.subarray(all.length - kept);
    done();
  }

  override _flush(done: () => void): void {
    const at = this.held.lastIndexOf(this.closing);
    const isBare = at > 0 && this.held[at - 1] !== 0x0d;
    if (isBare) this.push(Buffer.concat([this.held.subarray(0, at), Buffer.from('\r'), this.held.subarray(at)]));
    else this.push(this.held);
    done();
  }
}
