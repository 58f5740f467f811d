import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';

const LENGTH_DIGITS = 4;
const MESSAGES = 2;

/**
 * Passes on the answer of receive-pack, with messages for the terminal that do not name the folder of the repository:
 * git gives the full path of a lock file that another push holds. Messages are packets of the second band.
 */
export class PushReportPathRedactor extends Transform {
  private rest: Buffer = Buffer.alloc(0);
  private readonly folder: string;

  constructor(directory: string) {
    super();
    this.folder = Buffer.from(`${directory}/`).toString('latin1');
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.rest = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    while (this.rest.length >= LENGTH_DIGITS) {
      const length = parseInt(this.rest.toString('latin1', 0, LENGTH_DIGITS), 16);
      // A flush packet has the length 0. Something that is no packet passes as it is.
      const end = length > LENGTH_DIGITS ? length : LENGTH_DIGITS;
      if (this.rest.length < end) break;
      this.push(this.hideFolderInPacket(this.rest.subarray(0, end)));
      this.rest = this.rest.subarray(end);
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    done(null, this.rest);
  }

  private hideFolderInPacket(packet: Buffer): Buffer {
    if (packet[LENGTH_DIGITS] !== MESSAGES) return packet;
    const text = packet.toString('latin1', LENGTH_DIGITS).replaceAll(this.folder, '');
    return Buffer.from(`${(text.length + LENGTH_DIGITS).toString(16).padStart(LENGTH_DIGITS, '0')}${text}`, 'latin1');
  }
}
