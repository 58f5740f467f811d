import type { Readable, Writable } from 'node:stream';
import { copyInBatches } from './batched-output';
import type { EnvironmentRequest } from './environment';
import { GitError, gitErrorOfExit } from './git-error';
import type { StartedGit } from './git-starter';
import { ProcessOutputMeter } from './meter';

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

/** One start of git. `args` is a vector that this library wrote; values of users are validated before. */
export interface GitCommand extends EnvironmentRequest {
  readonly args: readonly string[];
  /** Default `command`. */
  readonly lane?: Lane;
  /** `pipe` leaves `stdin` of the running process to the caller. */
  readonly stdin?: Buffer | Readable | 'pipe';
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

/** Between the end of the input and SIGTERM, for a process that ends with its input. */
const INPUT_GRACE_MS = 5000;

/** Watches one process: limits, abort and the end. */
export class GitRun implements RunningGit {
  readonly stdout: ProcessOutputMeter;
  readonly stdin: Writable | null;
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>;
  private readonly stopCopying: () => void;
  private killed: { readonly reason: unknown } | null = null;
  private isClosed = false;
  private readonly endsWithInput: boolean;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly child: StartedGit,
    command: GitCommand,
    private readonly limits: ProcessLimits,
    free: () => void,
  ) {
    const tooLarge = () => this.kill(new GitError('too large', `git wrote more than ${limits.outputBytes} bytes.`));
    this.stdout = new ProcessOutputMeter(limits.outputBytes, () => this.restartIdleTimer(), tooLarge);
    this.stdin = child.stdin;
    this.endsWithInput = command.endsWithInput === true;
    this.stopCopying = copyInBatches(child.stdout, this.stdout);
    this.stdout.on('error', () => undefined);
    this.stdout.once('close', () => {
      if (!this.stdout.readableEnded) this.kill(new GitError('failed', 'The caller stopped reading.'));
    });
    this.ended = this.waitForEnd(command, free);
    // A caller that fails before it awaits the end must not end the process of the service.
    this.ended.catch(() => undefined);
  }

  kill(reason: unknown): void {
    if (this.isClosed || this.killed) return;
    this.killed = { reason };
    const { child } = this;
    // Unread output would keep the process from ending.
    this.stopCopying();
    child.stdout.resume();
    if (!this.endsWithInput) return child.end();
    child.stdin?.destroy();
    const timer = setTimeout(() => child.end(), INPUT_GRACE_MS);
    void child.closed.then(() => clearTimeout(timer));
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
    input.on('data', () => this.restartIdleTimer());
    input.pipe(this.child.stdin!);
    void this.child.closed.then(() => input.unpipe(this.child.stdin!));
  }

  private async waitForEnd(command: GitCommand, free: () => void) {
    const { limits, child } = this;
    const late = () => this.kill(new GitError('timed out', `git took longer than ${limits.ms} ms.`));
    const timer = setTimeout(late, limits.ms);
    const aborted = (): void => this.kill(command.signal?.reason);
    command.signal?.addEventListener('abort', aborted, { once: true });
    // The caller may have gone during the start.
    if (command.signal?.aborted) aborted();
    this.restartIdleTimer();
    try {
      const { code, signal, stderr } = await child.closed;
      this.isClosed = true;
      if (this.killed) throw this.killed.reason;
      const isTolerated = code !== null && command.tolerates?.test(stderr) === true;
      if (code === null || !(isTolerated || (command.accepts ?? [0]).includes(code)))
        throw gitErrorOfExit(stderr, code, signal);
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

  private restartIdleTimer(): void {
    if (this.isClosed) return;
    if (this.idle) {
      this.idle.refresh();
      return;
    }
    const idle = () => this.kill(new GitError('timed out', 'git or its client made no progress.'));
    this.idle = setTimeout(idle, this.limits.idleMs);
  }
}
