import { EventEmitter } from 'node:events';
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';

const NOTHING = Buffer.alloc(0);
const BLANK_ENDS = /^[ \t]+|[ \t]+$/g;

/**
 * The answer to a local call. It has the members of Node's ServerResponse that answers of the API use, with the same
 * checks of headers, so that both are written by the same code. Events: `finish`, `close`. Source: ADR 0199.
 */
export class LocalResponse extends EventEmitter {
  statusCode = 200;
  statusMessage = '';
  headersSent = false;
  destroyed = false;
  /** The caller has the whole answer, or is gone. */
  closed = false;
  /** Alternating names and values. */
  readonly headers: string[] = [];
  /** Resolves to true once the answer is written, to false if it never will be. */
  readonly isAnswered: Promise<boolean>;
  private settleAnswer: (isAnswered: boolean) => void = () => undefined;
  private body = NOTHING;
  private isEnded = false;

  constructor() {
    super();
    this.isAnswered = new Promise((resolve) => (this.settleAnswer = resolve));
  }

  /** Units: bytes that the caller does not have yet. */
  get writableLength(): number {
    return this.body.length;
  }

  get reason(): string {
    return this.statusMessage || (STATUS_CODES[this.statusCode] ?? '');
  }

  /**
   * Has the parameters of ServerResponse.writeHead, with a flat list of names and values. Errors: those of Node for
   * invalid headers.
   */
  writeHead(status: number, headers: readonly string[]): this {
    const checked: string[] = [];
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const [name, value] = [headers[index]!, headers[index + 1]!];
      validateHeaderName(name);
      validateHeaderValue(name, value);
      // Blanks around a value are no part of it, and are lost on the wire.
      checked.push(name, value.replace(BLANK_ENDS, ''));
    }
    this.headers.push(...checked);
    this.statusCode = status;
    this.headersSent = true;
    return this;
  }

  end(body?: string): this {
    if (this.isEnded || this.destroyed) return this;
    this.isEnded = true;
    if (body !== undefined) this.body = Buffer.from(body);
    this.settleAnswer(true);
    return this;
  }

  /** Removes the next bytes of the body and returns them. The part of a longer body is a copy, which does not keep the rest. */
  takeBytes(most: number): Buffer {
    const part = this.body.subarray(0, most);
    const taken = part.length < this.body.length ? Buffer.from(part) : part;
    this.body = this.body.subarray(most);
    return taken;
  }

  /** The caller has the whole answer. */
  finish(): void {
    if (this.closed) return;
    this.emit('finish');
    this.emitClose();
  }

  /** Ends the call without the rest of its answer. */
  destroy(): this {
    if (this.closed) return this;
    this.destroyed = true;
    this.body = NOTHING;
    this.settleAnswer(false);
    this.emitClose();
    return this;
  }

  /** Called when no code will write an answer any more. */
  abandon(): void {
    if (!this.isEnded) this.destroy();
  }

  whenClosed(): Promise<void> {
    return new Promise((resolve) => this.once('close', () => resolve()));
  }

  private emitClose(): void {
    this.closed = true;
    this.emit('close');
  }
}
