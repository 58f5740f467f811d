import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { currentWaiter } from '@rookery/platform';
import { createGitEnvironment } from './environment';
import type { EnvironmentRequest, ServerLimits } from './environment';
import { GitError, invalidGitArgument } from './git-error';
import { GitRun } from './git-run';
import type { GitCommand, GitOutput, Lane, ProcessLimits, RunningGit } from './git-run';
import { GitStarter } from './git-starter';
import type { StartedGit } from './git-starter';
import { ProcessSlots } from './process-slots';
import type { SlotLimits } from './process-slots';

export interface GitProcessesOptions extends ServerLimits {
  readonly slots: Readonly<Record<Lane, SlotLimits>>;
  readonly memoryBytes: number;
}

/** Longest transaction of refs, and so the longest life of a lock. git flushes each of thousands of refs to disk. */
export const REF_LOCK_MS = 300_000;
const DEFAULTS: Readonly<Record<Lane, Omit<ProcessLimits, 'memoryBytes'>>> = {
  command: { ms: 20_000, idleMs: 20_000, outputBytes: 64 * 2 ** 20, fileBytes: 4 * 2 ** 30 },
  transport: { ms: 3_600_000, idleMs: 120_000, outputBytes: Number.MAX_SAFE_INTEGER, fileBytes: 64 * 2 ** 30 },
  inside: { ms: 3_600_000, idleMs: 120_000, outputBytes: 64 * 2 ** 20, fileBytes: 64 * 2 ** 30 },
};

/**
 * Starts git: the only place of Rookery that does. Each process has a clean environment, limits of the kernel, its own
 * process group, and ends with its caller: on abort, on a time limit, and by `setpriv --pdeathsig` if this process is
 * killed, because the program that starts git (`GitStarter`) then exits.
 * Errors: GitError; GitBusy; the reason of `signal`.
 * Source: ADR 0183, ADR 0208.
 */
export class GitProcesses {
  private readonly starter = new GitStarter();
  readonly slots: Readonly<Record<Lane, ProcessSlots>>;

  constructor(private readonly options: GitProcessesOptions) {
    this.slots = {
      command: new ProcessSlots(options.slots.command),
      transport: new ProcessSlots(options.slots.transport),
      inside: new ProcessSlots(options.slots.inside),
    };
  }

  get pushBytes(): number {
    return this.options.pushBytes;
  }

  /** Runs a command to its end and returns its output. Bounds: `limits.outputBytes`. */
  async run(command: GitCommand): Promise<GitOutput> {
    return readOutput(await this.open(command));
  }

  /**
   * Runs two commands of one repository, and returns the output of the second, whose input is the output of the first.
   * Both share one slot: with a slot each, commands that have their first one could all wait for a second one.
   */
  async runPiped(first: GitCommand, second: GitCommand): Promise<GitOutput> {
    const free = await this.slots.command.takeSlot(first.gitDirectory ?? '', slotCallerOf(first));
    const start = (command: GitCommand) => this.startCommand(command, 'command', () => undefined);
    try {
      const source = await start(first);
      try {
        return await readOutput(await start({ ...second, stdin: source.stdout }));
      } finally {
        source.kill(new GitError('failed', 'The second command stopped reading.'));
        await source.ended.catch(() => undefined);
      }
    } finally {
      free();
    }
  }

  /** Starts a command whose output is read as a stream. It waits for a slot first. */
  async open(command: GitCommand): Promise<RunningGit> {
    const lane = command.lane ?? 'command';
    const free = await this.slots[lane].takeSlot(command.gitDirectory ?? '', slotCallerOf(command));
    try {
      return await this.startCommand(command, lane, free);
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Starts a process outside of the slots: kept readers, which have a bound of their own. */
  startKept(args: readonly string[], request: EnvironmentRequest): Promise<StartedGit> {
    return this.startGitProgram(args, request, { memoryBytes: this.options.memoryBytes, fileBytes: 0 }, true);
  }

  /** Frees what is kept for starts, once nothing runs. */
  close(): void {
    this.starter.close();
  }

  private async startCommand(command: GitCommand, lane: Lane, free: () => void): Promise<RunningGit> {
    command.signal?.throwIfAborted();
    const limits = { memoryBytes: this.options.memoryBytes, ...DEFAULTS[lane], ...command.limits };
    const hasInput = command.stdin !== undefined;
    const child = await this.startGitProgram(command.args, command, limits, hasInput, command.endsWithInput !== true);
    const running = new GitRun(child, command, limits, free);
    if (Buffer.isBuffer(command.stdin)) child.stdin?.end(command.stdin);
    if (command.stdin instanceof Readable && child.stdin) running.feed(command.stdin);
    return running;
  }

  private async startGitProgram(
    args: readonly string[],
    request: EnvironmentRequest,
    limits: Pick<ProcessLimits, 'memoryBytes' | 'fileBytes'> & { readonly ms?: number },
    hasInput: boolean,
    followsParent = true,
  ): Promise<StartedGit> {
    const [program, ...rest] = [...resourceLimitArguments(limits, followsParent), 'git', ...args];
    const cwd = request.gitDirectory ?? '/';
    const env = createGitEnvironment(request, this.options);
    try {
      return await this.starter.start({ program: program!, args: rest, cwd, env, hasInput });
    } catch (error) {
      throw toStartError(error as NodeJS.ErrnoException, cwd);
    }
  }
}

function slotCallerOf({ signal }: GitCommand) {
  return { signal, isGone: currentWaiter()?.isGone };
}

function toStartError(error: NodeJS.ErrnoException, folder: string): GitError {
  const said = [error.message, { cause: error }] as const;
  if (error.code === 'E2BIG') return invalidGitArgument('The command is too long.');
  if (error.code !== 'ENOENT') return new GitError('failed', 'git cannot be started.', ...said);
  if (!existsSync(folder)) return new GitError('no repository', 'The repository does not exist.', ...said);
  return new GitError('not installed', 'git needs prlimit and setpriv of util-linux.', ...said);
}

/** Reads the whole output of a process. */
async function readOutput(running: RunningGit): Promise<GitOutput> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of running.stdout) chunks.push(chunk as Buffer);
  } catch {
    // `ended` rejects with the reason.
  }
  const { code, stderr } = await running.ended;
  return { code, stderr, stdout: Buffer.concat(chunks) };
}

/** Programs of util-linux that set limits and the signal for the death of the parent, then become git. */
function resourceLimitArguments(
  limits: { readonly memoryBytes: number; readonly fileBytes: number; readonly ms?: number },
  followsParent: boolean,
): string[] {
  if (process.platform !== 'linux') return [];
  const seconds = limits.ms === undefined ? [] : [`--cpu=${Math.ceil(limits.ms / 1000) + 1}`];
  const bounds = ['--core=0', `--data=${limits.memoryBytes}`, `--fsize=${limits.fileBytes}`, ...seconds];
  const death = followsParent ? ['--pdeathsig', 'TERM'] : [];
  return ['prlimit', ...bounds, 'setpriv', ...death, '--no-new-privs'];
}
