import { GitBusy, GitError, gitErrorOfExit } from '../process/git-error';
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

interface ObjectRequest {
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
 * A process that dies is replaced, and its open requests are asked again; the request on which two processes died
 * fails. Names in requests may contain line ends, because `-z` ends them with NUL. Answers of git 2.39 do not use NUL,
 * so an echoed name is compared byte by byte.
 * Errors: GitError; GitBusy beyond 10,000 open requests.
 */
export class ObjectReader {
  /** Requests since the process started. */
  asked = 0;
  private child: StartedGit | null = null;
  private isStarting = false;
  /** Requests in the order of sending; the first `sent` of them are with the process. */
  private open: ObjectRequest[] = [];
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
  requestObject(verb: ObjectRequest['verb'], name: string, maxBytes: number): Promise<GitObject | null> {
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
      this.sendOpenRequests();
    });
  }

  /** Ends the process. Open requests fail. */
  close(): void {
    const { child, open } = this;
    this.forgetProcess();
    this.open = [];
    child?.stdin?.end();
    if (open.length > 0) child?.end();
    for (const request of open) request.reject(new GitError('no repository', 'The repository was closed.'));
  }

  private sendOpenRequests(): void {
    if (this.isSending) return;
    this.isSending = true;
    queueMicrotask(() => {
      this.isSending = false;
      if (this.open.length === 0) return;
      const { child } = this;
      if (!child) return void this.startProcess();
      const lines = this.open.slice(this.sent).map(({ verb, name }) => `${verb} ${name}\0`);
      if (lines.length === 0) return;
      this.sent = this.open.length;
      this.asked += lines.length;
      this.restartProgressTimer();
      child.stdin!.write(`${lines.join('')}flush\0`);
    });
  }

  private async startProcess(): Promise<void> {
    if (this.isStarting) return;
    this.isStarting = true;
    let child: StartedGit;
    try {
      child = await this.start();
    } catch (error) {
      return this.failAllRequests(error);
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
      if (child === this.child) this.replaceProcess(() => gitErrorOfExit(stderr, code, signal));
    });
    this.sendOpenRequests();
  }

  /** Takes output of the process apart. */
  private readChunk(chunk: Buffer): void {
    let data = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    const reading = this.child;
    while (data.length > 0 && this.child === reading) {
      const used = this.body ? this.readObjectBody(data) : this.readObjectHead(data);
      if (used === 0) break;
      data = data.subarray(used);
    }
    if (this.child !== reading) return;
    this.rest = data;
    if (this.open.length > 0) this.restartProgressTimer();
  }

  /** Reads a header line and returns its length, 0 if it is not complete. */
  private readObjectHead(data: Buffer): number {
    const request = this.open[0];
    if (!request || this.sent === 0) {
      this.restartProcess();
      return 0;
    }
    const from = this.echoedNameLength(data, request);
    const end = from < 0 ? -1 : data.indexOf(LINE_END, from);
    if (end < 0) return 0;
    const found = from === 0 ? FOUND.exec(data.toString('latin1', 0, end)) : null;
    if (!found) this.resolveMissing(request, data.toString('latin1', from, end));
    else this.beginObjectBody(request, { id: found[1]!, type: found[2] as ObjectType, size: Number(found[3]) });
    return end + 1;
  }

  /** Length of a repeated name that holds line ends; 0 if the answer repeats no such name, -1 if more bytes are needed. */
  private echoedNameLength(data: Buffer, { multiline }: ObjectRequest): number {
    if (!multiline) return 0;
    const compared = Math.min(multiline.length, data.length);
    if (!data.subarray(0, compared).equals(multiline.subarray(0, compared))) return 0;
    return compared < multiline.length ? -1 : multiline.length;
  }

  private resolveMissing(request: ObjectRequest, line: string): void {
    this.takeFirstRequest();
    if (line.endsWith(' ambiguous'))
      request.reject(new GitError('ambiguous', 'The abbreviated id fits several objects.'));
    else request.resolve(null);
  }

  private beginObjectBody(request: ObjectRequest, info: ObjectInfo): void {
    if (request.verb === 'info') {
      this.takeFirstRequest();
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
    this.takeFirstRequest();
    this.restartProcess();
  }

  /** Copies a part of a body and its line end; returns the number of bytes that it used. */
  private readObjectBody(data: Buffer): number {
    const body = this.body!;
    const { info, content } = body;
    const used = Math.min(info.size + 1 - body.filled, data.length);
    if (content) data.copy(content, body.filled, 0, Math.min(used, info.size - body.filled));
    body.filled += used;
    if (body.filled > info.size) {
      this.body = null;
      const request = this.takeFirstRequest();
      if (content) request.resolve({ ...info, content });
    }
    return used;
  }

  private takeFirstRequest(): ObjectRequest {
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
  private restartProcess(): void {
    const { child } = this;
    this.forgetProcess();
    child?.end();
    this.sendOpenRequests();
  }

  /** Replaces a process that has died: the first request in line fails at its second attempt, and the others are sent again. */
  private replaceProcess(reason: () => GitError): void {
    this.forgetProcess();
    const first = this.open[0];
    if (first && (first.attempts += 1) > 1) {
      this.open.shift();
      first.reject(reason());
    }
    if (this.open.length > 0) this.sendOpenRequests();
    else this.becameIdle();
  }

  private failAllRequests(error: unknown): void {
    const { open } = this;
    this.forgetProcess();
    this.open = [];
    for (const request of open) request.reject(error);
    this.becameIdle();
  }

  private forgetProcess(): void {
    clearTimeout(this.progress);
    this.progress = undefined;
    this.child = null;
    this.sent = 0;
    this.rest = NOTHING;
    this.body = null;
  }

  private restartProgressTimer(): void {
    if (this.progress) {
      this.progress.refresh();
      return;
    }
    this.progress = setTimeout(() => {
      this.takeFirstRequest().reject(new GitError('timed out', 'Reading the object took too long.'));
      this.restartProcess();
    }, PROGRESS_MS);
  }
}
