import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** A process to start. `env` is the whole environment. */
export interface StartRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasInput: boolean;
}

/** End of a process, with the beginning of its `stderr`. Bounds: 64 KiB of `stderr`. */
interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** A started process. Its streams are connections to the process itself. */
export interface StartedGit {
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  /** Resolves when the process has ended and its output was read to the end. */
  readonly closed: Promise<ProcessEnd>;
  /** Ends the process group: with SIGTERM, on which git removes temporary files and locks, and 2 s later with SIGKILL. */
  end(): void;
}

/** Report of the program `starter.cjs`. */
interface StarterReport extends Partial<ProcessEnd> {
  readonly id: string;
  readonly pid?: number;
  readonly error?: { readonly code?: string; readonly message: string };
}

/** A process that is being started or runs. Its reports may arrive before its connections. */
interface TrackedProcess {
  readonly hasInput: boolean;
  readonly streams: { o?: Socket; i?: Socket };
  pid: number | null;
  isStarted: boolean;
  isEnded: boolean;
  /** Waits for streams that are missing after the process reported its start or its end. */
  missing: NodeJS.Timeout | undefined;
  readonly started: (process: StartedGit) => void;
  readonly failed: (error: Error) => void;
  readonly ended: (end: ProcessEnd) => void;
  readonly end: Promise<ProcessEnd>;
}

const PROGRAM = resolve(__dirname, '../../starter/starter.cjs');
/** The program has little to remember. Units: megabytes. */
const MEMORY = ['--max-old-space-size=64', '--max-semi-space-size=1'];
const ID_BYTES = 16;
/** The id in hexadecimal digits and a letter. */
const HEADER_BYTES = 2 * ID_BYTES + 1;
/** Buffer of each stream: a whole piece of batched output. */
const STREAM_BYTES = 64 * 1024;
/** Between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 2000;
/** The kernel has a connection before the program reports the process, so these bound only a lost one. */
const STREAMS_AFTER_START_MS = 10_000;
const STREAMS_AFTER_END_MS = 1000;
/** The program ends after so long without a process. */
const IDLE_MS = 120_000;

/**
 * Starts processes through a small program, which is started for the first of them, replaced if it dies, and ended when
 * nothing runs for two minutes. A start from a service of 300 MB costs five times as much.
 * Errors: those of `spawn`, such as ENOENT and E2BIG.
 * Source: ADR 0208.
 */
export class GitStarter {
  private program: StarterProgram | null = null;
  private idle: NodeJS.Timeout | undefined;
  private idleMs = IDLE_MS;

  async start(request: StartRequest): Promise<StartedGit> {
    clearTimeout(this.idle);
    if (this.program?.isOver !== false) this.program = new StarterProgram(() => this.endWhenIdle());
    return this.program.start(request);
  }

  /** Ends the program as soon as none of its processes runs. */
  close(): void {
    this.idleMs = 0;
    if (this.program?.running === 0) this.endProgram();
  }

  private endWhenIdle(): void {
    if (this.idleMs === 0) return this.endProgram();
    this.idle = setTimeout(() => this.endProgram(), this.idleMs);
    this.idle.unref();
  }

  private endProgram(): void {
    clearTimeout(this.idle);
    this.program?.close();
    this.program = null;
  }
}

/** One running program, with the socket to which the streams of its processes connect. */
class StarterProgram {
  isOver = false;
  private readonly folder = mkdtempSync(join(tmpdir(), 'rookery-git-'));
  private readonly known = new Map<string, TrackedProcess>();
  private readonly server: Server;
  private readonly child: Promise<ChildProcess>;

  /** `becameIdle` is called when the last process has ended. */
  constructor(private readonly becameIdle: () => void) {
    const path = join(this.folder, 'git.sock');
    this.server = createServer({ highWaterMark: STREAM_BYTES }, (socket) => this.acceptSocket(socket));
    this.child = new Promise((resolve, reject) => {
      this.server.once('error', reject).listen(path, () => resolve(this.forkProgram(path)));
    });
    this.child.catch((error: Error) => this.failAllProcesses(error));
  }

  get running(): number {
    return this.known.size;
  }

  async start({ hasInput, ...request }: StartRequest): Promise<StartedGit> {
    const id = randomBytes(ID_BYTES).toString('hex');
    const started = new Promise<StartedGit>((resolve, reject) => {
      let ended!: TrackedProcess['ended'];
      const end = new Promise<ProcessEnd>((settle) => (ended = settle));
      const state = { pid: null, isStarted: false, isEnded: false, missing: undefined };
      this.known.set(id, { hasInput, streams: {}, ...state, started: resolve, failed: reject, ended, end });
    });
    // The rejection is reported through `started`.
    const child = await this.child.catch(() => null);
    child?.channel?.ref();
    if (!this.isOver) child?.send({ id, hasInput, ...request });
    return started;
  }

  /** Ends the program; there must be no process of it. */
  close(): void {
    this.isOver = true;
    this.server.close();
    void this.child.then(
      (child) => child.connected && child.disconnect(),
      () => undefined,
    );
    rmSync(this.folder, { recursive: true, force: true });
  }

  private forkProgram(path: string): ChildProcess {
    const child = fork(PROGRAM, [path], { env: {}, execArgv: MEMORY, stdio: 'ignore' });
    child.on('message', (report) => this.applyReport(report as StarterReport));
    // Each request that the program does not get any more is an error of its own.
    child.on('error', (error) => this.failAllProcesses(error));
    child.once('exit', () => this.failAllProcesses(new Error('The program that starts git has ended.')));
    child.unref();
    this.server.unref();
    return child;
  }

  private applyReport({ id, pid, error, code = null, signal = null, stderr }: StarterReport): void {
    const one = this.known.get(id);
    if (!one) return;
    if (pid !== undefined) {
      one.pid = pid;
      this.limitWaitForStreams(id, one, STREAMS_AFTER_START_MS);
      this.completeStartIfReady(id, one);
    } else if (error) {
      one.failed(Object.assign(new Error(error.message), { code: error.code }));
      destroyStreams(one);
      this.forgetProcess(id);
    } else if (stderr !== undefined) {
      one.ended({ code, signal, stderr });
      one.isEnded = true;
      if (one.isStarted) this.forgetProcess(id);
      else this.limitWaitForStreams(id, one, STREAMS_AFTER_END_MS);
    }
  }

  /**
   * Fails the start if the streams do not arrive in time. Without free descriptors, the kernel's connections are closed
   * and none is reported.
   */
  private limitWaitForStreams(id: string, tracked: TrackedProcess, ms: number): void {
    clearTimeout(tracked.missing);
    const check = (): void => {
      if (tracked.isStarted || this.known.get(id) !== tracked) return;
      if (tracked.pid !== null && !tracked.isEnded) signalProcessGroup(tracked.pid, 'SIGKILL');
      tracked.failed(new Error('The streams of a process that was started were lost.'));
      destroyStreams(tracked);
      this.forgetProcess(id);
    };
    // After a busy time, connections that wait are accepted before the check.
    tracked.missing = setTimeout(() => setImmediate(check), ms);
  }

  /** Reads the beginning of a connection and gives it to its process. A connection without a known id is closed. */
  private acceptSocket(socket: Socket): void {
    socket.on('error', () => undefined);
    const read = (): void => {
      const header = socket.read(HEADER_BYTES) as Buffer | null;
      if (header === null) return;
      socket.off('readable', read);
      const text = header.toString('latin1');
      const id = text.slice(0, -1);
      const one = this.known.get(id);
      const kind = text.slice(-1);
      if (!one || (kind !== 'o' && kind !== 'i')) return void socket.destroy();
      one.streams[kind] = socket;
      this.completeStartIfReady(id, one);
    };
    socket.on('readable', read);
  }

  private completeStartIfReady(id: string, tracked: TrackedProcess): void {
    const { pid, streams, hasInput, end } = tracked;
    const { o: stdout, i: stdin = null } = streams;
    if (pid === null || !stdout || (hasInput && !stdin)) return;
    const isRead = new Promise<void>((closed) => stdout.once('close', closed));
    const closed = Promise.all([end, isRead]).then(([ended]) => ended);
    // The end of git's input is seen only by a socket that reads.
    stdin?.resume();
    tracked.started({ stdin, stdout, closed, end: () => endProcessGroup(pid, closed) });
    tracked.isStarted = true;
    clearTimeout(tracked.missing);
    if (tracked.isEnded) this.forgetProcess(id);
  }

  private forgetProcess(id: string): void {
    this.known.delete(id);
    if (this.known.size > 0) return;
    void this.child.then((child) => child.channel?.unref());
    this.becameIdle();
  }

  /** Fails all starts, and ends all processes: those that do not follow their parent would run on without a report. */
  private failAllProcesses(error: Error): void {
    if (this.isOver) return;
    for (const one of this.known.values()) {
      clearTimeout(one.missing);
      if (one.pid !== null) signalProcessGroup(one.pid, 'SIGKILL');
      if (!one.isStarted) destroyStreams(one);
      one.failed(error);
      one.ended({ code: null, signal: 'SIGKILL', stderr: '' });
    }
    this.known.clear();
    this.close();
  }
}

function destroyStreams({ streams }: TrackedProcess): void {
  for (const stream of Object.values(streams)) stream.destroy();
}

function endProcessGroup(pid: number, closed: Promise<ProcessEnd>): void {
  signalProcessGroup(pid, 'SIGTERM');
  const timer = setTimeout(() => signalProcessGroup(pid, 'SIGKILL'), KILL_GRACE_MS);
  void closed.then(() => clearTimeout(timer));
}

function signalProcessGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
