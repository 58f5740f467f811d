import { GitBusy, GitError, errorOf } from '../process/git-error';
import type { StartedGit } from '../process/git-starter';

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

/** Units: bytes for `size`. */
export interface ObjectInfo {
  readonly id: string;
  readonly type: ObjectType;
  readonly size: number;
}
export interface GitObject extends ObjectInfo {
  readonly content: Buffer;
}

interface Request {
  readonly verb: 'info' | 'contents';
  readonly name: string;
  /** Bytes of a name that holds line ends, else null. */
  readonly multiline: Buffer | null;
  readonly maxBytes: number;
  readonly resolve: (object: GitObject | null) => void;
  readonly reject: (error: unknown) => void;
  attempts: number;
}

const NOTHING = Buffer.alloc(0);
const FOUND = /^([0-9a-f]{40}) (blob|tree|commit|tag) (\d+)$/;
const LINE_END = 10;
const MAX_PENDING = 10_000;
const PROGRESS_MS = 20_000;
/** Larger bodies than this are not read to be thrown away: the process is replaced. */
const MAX_SKIPPED_BYTES = 1024 * 1024;
const RETRY_AFTER_SECONDS = 1;

/**
 * One kept `git cat-file --batch-command` process. Requests of one tick are sent together, and many may wait at a time.
 * A process that dies is replaced, and its open requests are asked again; the request on which two processes died fails.
 * Shape: with `-z` names may hold line ends. Answers of git 2.39 do not, so an echoed name is compared byte by byte.
 * Errors: GitError; GitBusy beyond 10,000 open requests.
 */
export class ObjectReader {
  /** Requests since the process started. */
  asked = 0;
  private child: StartedGit | null = null;
  private isStarting = false;
  /** Requests in the order of sending; the first `sent` of them are with the process. */
  private open: Request[] = [];
  private sent = 0;
  private isSending = false;
  private rest: Buffer = NOTHING;
  private body: { readonly info: ObjectInfo; readonly content: Buffer | null; filled: number } | null = null;
  private progress: NodeJS.Timeout | undefined;

  constructor(
    private readonly start: () => Promise<StartedGit>,
    private readonly becameIdle: () => void,
  ) {}

  get isIdle(): boolean {
    return this.open.length === 0;
  }

  /** Asks for an object, null if it does not exist. `content` is empty for `info`. */
  requestObject(verb: Request['verb'], name: string, maxBytes: number): Promise<GitObject | null> {
    if (this.open.length >= MAX_PENDING) {
      return Promise.reject(new GitBusy('Too many reads of the repository are waiting.', RETRY_AFTER_SECONDS));
    }
    return new Promise((resolve, reject) => {
      this.open.push({
        verb,
        name,
        multiline: name.includes('\n') ? Buffer.from(name) : null,
        maxBytes,
        resolve,
        reject,
        attempts: 0,
      });
      this.sendRequests();
    });
  }

  /** Ends the process. Open requests fail. */
  close(): void {
    const { child, open } = this;
    this.forgetChild();
    this.open = [];
    child?.stdin?.end();
    if (open.length > 0) child?.end();
    for (const request of open) request.reject(new GitError('no repository', 'The repository was closed.'));
  }

  private sendRequests(): void {
    if (this.isSending) return;
    this.isSending = true;
    queueMicrotask(() => {
      this.isSending = false;
      if (this.open.length === 0) return;
      const { child } = this;
      if (!child) return void this.startChild();
      const lines = this.open.slice(this.sent).map(({ verb, name }) => `${verb} ${name}\0`);
      if (lines.length === 0) return;
      this.sent = this.open.length;
      this.asked += lines.length;
      this.watchProgress();
      child.stdin!.write(`${lines.join('')}flush\0`);
    });
  }

  private async startChild(): Promise<void> {
    if (this.isStarting) return;
    this.isStarting = true;
    let child: StartedGit;
    try {
      child = await this.start();
    } catch (error) {
      return this.failAll(error);
    } finally {
      this.isStarting = false;
    }
    // Meanwhile the reader may have been closed.
    if (this.open.length === 0) return void child.stdin!.end();
    this.child = child;
    this.asked = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      if (child === this.child) this.readChunk(chunk);
    });
    void child.closed.then(({ code, signal, stderr }) => {
      if (child === this.child) this.replaceProcess(() => errorOf(stderr, code, signal));
    });
    this.sendRequests();
  }

  /** Takes output of the process apart. */
  private readChunk(chunk: Buffer): void {
    let data = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    const reading = this.child;
    while (data.length > 0 && this.child === reading) {
      const used = this.body ? this.readBody(data) : this.readHead(data);
      if (used === 0) break;
      data = data.subarray(used);
    }
    if (this.child !== reading) return;
    this.rest = data;
    if (this.open.length > 0) this.watchProgress();
  }

  /** Reads a header line and returns its length, 0 if it is not complete. */
  private readHead(data: Buffer): number {
    const request = this.open[0];
    if (!request || this.sent === 0) {
      this.restart();
      return 0;
    }
    const from = this.echoLength(data, request);
    const end = from < 0 ? -1 : data.indexOf(LINE_END, from);
    if (end < 0) return 0;
    const found = from === 0 ? FOUND.exec(data.toString('latin1', 0, end)) : null;
    if (!found) this.finishMissing(request, data.toString('latin1', from, end));
    else this.beginObject(request, { id: found[1]!, type: found[2] as ObjectType, size: Number(found[3]) });
    return end + 1;
  }

  /** Length of a repeated name that holds line ends; 0 if the answer repeats no such name, -1 if more bytes are needed. */
  private echoLength(data: Buffer, { multiline }: Request): number {
    if (!multiline) return 0;
    const compared = Math.min(multiline.length, data.length);
    if (!data.subarray(0, compared).equals(multiline.subarray(0, compared))) return 0;
    return compared < multiline.length ? -1 : multiline.length;
  }

  private finishMissing(request: Request, line: string): void {
    this.shiftRequest();
    if (line.endsWith(' ambiguous'))
      request.reject(new GitError('ambiguous', 'The abbreviated id fits several objects.'));
    else request.resolve(null);
  }

  private beginObject(request: Request, info: ObjectInfo): void {
    if (request.verb === 'info') {
      this.shiftRequest();
      request.resolve({ ...info, content: NOTHING });
      return;
    }
    if (info.size <= request.maxBytes) {
      this.body = { info, content: Buffer.allocUnsafe(info.size), filled: 0 };
      return;
    }
    request.reject(new GitError('too large', `The object is larger than ${request.maxBytes} bytes.`));
    if (info.size <= MAX_SKIPPED_BYTES) {
      this.body = { info, content: null, filled: 0 };
      return;
    }
    this.shiftRequest();
    this.restart();
  }

  /** Copies a part of a body and its line end; returns the number of bytes that it used. */
  private readBody(data: Buffer): number {
    const body = this.body!;
    const { info, content } = body;
    const used = Math.min(info.size + 1 - body.filled, data.length);
    if (content) data.copy(content, body.filled, 0, Math.min(used, info.size - body.filled));
    body.filled += used;
    if (body.filled > info.size) {
      this.body = null;
      const request = this.shiftRequest();
      if (content) request.resolve({ ...info, content });
    }
    return used;
  }

  private shiftRequest(): Request {
    const request = this.open.shift()!;
    this.sent -= 1;
    if (this.open.length === 0) {
      clearTimeout(this.progress);
      this.progress = undefined;
      this.becameIdle();
    }
    return request;
  }

  /** Gives up the process and asks a new one for what is open. */
  private restart(): void {
    const { child } = this;
    this.forgetChild();
    child?.end();
    this.sendRequests();
  }

  /** Replaces a process that has died: the first request in line fails at its second attempt, and the others are sent again. */
  private replaceProcess(reason: () => GitError): void {
    this.forgetChild();
    const first = this.open[0];
    if (first && (first.attempts += 1) > 1) {
      this.open.shift();
      first.reject(reason());
    }
    if (this.open.length > 0) this.sendRequests();
    else this.becameIdle();
  }

  private failAll(error: unknown): void {
    const { open } = this;
    this.forgetChild();
    this.open = [];
    for (const request of open) request.reject(error);
    this.becameIdle();
  }

  private forgetChild(): void {
    clearTimeout(this.progress);
    this.progress = undefined;
    this.child = null;
    this.sent = 0;
    this.rest = NOTHING;
    this.body = null;
  }

  private watchProgress(): void {
    if (this.progress) {
      this.progress.refresh();
      return;
    }
    this.progress = setTimeout(() => {
      this.shiftRequest().reject(new GitError('timed out', 'Reading the object took too long.'));
      this.restart();
    }, PROGRESS_MS);
  }
}
