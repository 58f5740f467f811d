import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { EnvironmentRequest } from './environment';
import { GitError, errorOf } from './git-error';
import { Meter } from './meter';

/** Limits of one process. Units: milliseconds and bytes. */
export interface ProcessLimits {
  readonly ms: number;
  /** Without a byte of output for so long, the process is ended. */
  readonly idleMs: number;
  /** Of standard output. */
  readonly outputBytes: number;
  /** Of private memory (RLIMIT_DATA), so that mapped packs do not count. */
  readonly memoryBytes: number;
  /** Of a file that git writes. */
  readonly fileBytes: number;
}

/**
 * Commands are short and read or write objects; transports serve a client and may last an hour; those inside copy between
 * repositories of this machine.
 */
export type Lane = 'command' | 'transport' | 'inside';

/** One start of git. Shape: `args` is a vector that this library wrote; values of users are validated before. */
export interface GitCommand extends EnvironmentRequest {
  readonly args: readonly string[];
  /** Default `command`. */
  readonly lane?: Lane;
  /** A number is an open file descriptor; `pipe` leaves `stdin` of the running process to the caller. */
  readonly stdin?: Buffer | Readable | number | 'pipe';
  readonly limits?: Partial<ProcessLimits> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Exit codes that are answers. Default 0 alone. */
  readonly accepts?: readonly number[];
  /**
   * Ends when its input ends. It is not signalled at first, since a signal reaches git and its children in any order,
   * and a child may then write into a folder that git has just removed.
   */
  readonly endsWithInput?: boolean;
  /** Messages of a failed git that are no failure. */
  readonly tolerates?: RegExp;
}

export interface GitOutput {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A started process. `ended` must be awaited; it rejects with a GitError or with the reason of the caller's signal. */
export interface RunningGit {
  readonly stdin: Writable | null;
  /** Destroying it ends the process. */
  readonly stdout: Readable;
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>;
  /** Ends the process group. */
  kill(reason: unknown): void;
}

const MAX_STDERR_BYTES = 64 * 1024;
/** Between SIGTERM, on which git removes its lock files, and SIGKILL. */
const KILL_GRACE_MS = 2000;
/** Between the end of the input and SIGTERM, for a process that ends with its input. */
const INPUT_GRACE_MS = 5000;

/** Watches one child: limits, abort, standard error and the end. */
export class GitRun implements RunningGit {
  readonly stdout: Meter;
  readonly stdin: Writable | null;
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>;
  private killed: { readonly reason: unknown } | null = null;
  private isClosed = false;
  private readonly endsWithInput: boolean;
  private readonly errors: Buffer[] = [];
  private errorBytes = 0;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly child: ChildProcess,
    command: GitCommand,
    private readonly limits: ProcessLimits,
    free: () => void,
  ) {
    const tooLarge = () => this.kill(new GitError('too large', `git wrote more than ${limits.outputBytes} bytes.`));
    this.stdout = new Meter(limits.outputBytes, () => this.watchIdle(), tooLarge);
    this.stdin = child.stdin;
    this.endsWithInput = command.endsWithInput === true;
    child.stdin?.on('error', () => undefined);
    child.stderr?.on('data', (chunk: Buffer) => this.keepError(chunk));
    child.stdout?.on('error', () => undefined);
    child.stdout?.pipe(this.stdout, { end: false });
    this.stdout.on('error', () => undefined);
    this.stdout.once('close', () => {
      if (!this.stdout.readableEnded) this.kill(new GitError('failed', 'The caller stopped reading.'));
    });
    this.ended = this.end(command, free);
    // A caller that fails before it awaits the end must not end the process of the service.
    this.ended.catch(() => undefined);
  }

  kill(reason: unknown): void {
    if (this.isClosed || this.killed) return;
    this.killed = { reason };
    const { child } = this;
    // Unread output would keep the process from ending.
    child.stdout?.unpipe(this.stdout);
    child.stdout?.resume();
    if (!this.endsWithInput) return killGroup(child);
    child.stdin?.destroy();
    const timer = setTimeout(() => killGroup(child), INPUT_GRACE_MS);
    child.once('close', () => clearTimeout(timer));
  }

  /** Copies a stream to standard input; a broken stream ends the process. */
  feed(input: Readable): void {
    const broken = () => this.kill(input.errored ?? new GitError('failed', 'The input ended too early.'));
    // The input may have broken while the command waited for a slot.
    if (input.destroyed && !input.readableEnded) return broken();
    input.once('error', (error) => this.kill(error));
    input.once('close', () => {
      if (!input.readableEnded) broken();
    });
    input.on('data', () => this.watchIdle());
    input.pipe(this.child.stdin!);
    this.child.once('exit', () => input.unpipe(this.child.stdin!));
  }

  private async end(command: GitCommand, free: () => void) {
    const { limits, child } = this;
    const late = () => this.kill(new GitError('timed out', `git took longer than ${limits.ms} ms.`));
    const timer = setTimeout(late, limits.ms);
    const aborted = (): void => this.kill(command.signal?.reason);
    child.once('close', () => (this.isClosed = true));
    command.signal?.addEventListener('abort', aborted, { once: true });
    this.watchIdle();
    try {
      const { code, signal } = await closed(child, command.gitDirectory);
      if (this.killed) throw this.killed.reason;
      const stderr = Buffer.concat(this.errors).toString();
      const isTolerated = code !== null && command.tolerates?.test(stderr) === true;
      if (code === null || !(isTolerated || (command.accepts ?? [0]).includes(code)))
        throw errorOf(stderr, code, signal);
      this.stdout.end();
      return { code, stderr };
    } catch (error) {
      // The end of the stream must not look like a whole answer.
      this.stdout.destroy(error instanceof Error ? error : new Error(String(error)));
      throw error;
    } finally {
      clearTimeout(timer);
      clearTimeout(this.idle);
      this.idle = undefined;
      command.signal?.removeEventListener('abort', aborted);
      free();
    }
  }

  private watchIdle(): void {
    if (this.isClosed) return;
    if (this.idle) {
      this.idle.refresh();
      return;
    }
    const idle = () => this.kill(new GitError('timed out', 'git or its client made no progress.'));
    this.idle = setTimeout(idle, this.limits.idleMs);
  }

  private keepError(chunk: Buffer): void {
    if (this.errorBytes >= MAX_STDERR_BYTES) return;
    this.errors.push(chunk.subarray(0, MAX_STDERR_BYTES - this.errorBytes));
    this.errorBytes += chunk.length;
  }
}

/** Waits until the process has ended and its pipes are closed. */
function closed(child: ChildProcess, folder = '/'): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(startError(error, folder)));
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

function startError(error: NodeJS.ErrnoException, folder: string): GitError {
  const said = [error.message, { cause: error }] as const;
  if (error.code !== 'ENOENT') return new GitError('failed', 'git cannot be started.', ...said);
  if (!existsSync(folder)) return new GitError('no repository', 'The repository does not exist.', ...said);
  return new GitError('not installed', 'git needs prlimit and setpriv of util-linux.', ...said);
}

/** Ends a process group: with SIGTERM first, on which git removes temporary files and locks. */
export function killGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  signalGroup(pid, 'SIGTERM');
  const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), KILL_GRACE_MS);
  child.once('close', () => clearTimeout(timer));
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
