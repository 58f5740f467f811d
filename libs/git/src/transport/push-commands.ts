import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { GitError, invalidGitArgument } from '../process/git-error';

/** Largest list of ref updates of a push, as in the hooks. Units: bytes. */
export const MAX_COMMANDS_BYTES = 8 * 1024 * 1024;
const LENGTH_DIGITS = 4;
const HEX = /^[0-9a-f]{4}$/i;
const CERTIFICATE = 'push-cert';

/**
 * Checks the list of ref updates at the start of a push; the rest passes unread. receive-pack keeps the list in memory
 * without a bound. It writes a certificate of a push into the repository before any check, also without its offer, and
 * starts a program to verify it.
 * Errors: GitError `invalid`, `too large`.
 */
export class PushCommandsCheck extends Transform {
  private rest: Buffer = Buffer.alloc(0);
  private total = 0;
  private isListed = false;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.isListed) return done(null, chunk);
    this.total += chunk.length;
    this.rest = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    try {
      const checked = this.completeLinesLength();
      this.push(this.rest.subarray(0, this.isListed ? undefined : checked));
      this.rest = this.rest.subarray(checked);
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: TransformCallback): void {
    done(null, this.isListed ? null : this.rest);
  }

  /** Returns the length of the complete lines that have arrived. */
  private completeLinesLength(): number {
    let at = 0;
    for (;;) {
      const from = at + LENGTH_DIGITS;
      if (this.total - (this.rest.length - at) > MAX_COMMANDS_BYTES) {
        throw new GitError('too large', 'The push changes too many refs.');
      }
      if (this.rest.length < from) return at;
      const digits = this.rest.toString('latin1', at, from);
      if (!HEX.test(digits)) throw invalidGitArgument('The push is malformed.');
      const length = parseInt(digits, 16);
      if (length === 0) {
        this.isListed = true;
        return from;
      }
      const end = at + Math.max(length, LENGTH_DIGITS);
      if (this.rest.length < end) return at;
      if (this.rest.toString('latin1', from, from + CERTIFICATE.length) === CERTIFICATE) {
        throw invalidGitArgument('Signed pushes are not supported.');
      }
      at = end;
    }
  }
}
