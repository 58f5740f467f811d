import type { Quarantine } from '../process/environment';
import type { GitProcesses } from '../process/git-processes';
import type { GitCommand, GitOutput, RunningGit } from '../process/git-run';
import type { ObjectReaders } from './object-readers';

/** Place of a repository. `path` is `@hashed/aa/bb/<64 hex>.git`, relative to the folder of the storage. */
export interface RepositoryAddress {
  readonly storage: string;
  readonly path: string;
}

/** Git's processes and readers, shared by all repositories of a service. */
export interface GitTools {
  readonly processes: GitProcesses;
  readonly readers: ObjectReaders;
}

/** Command without the parts that the repository adds. */
export type RepositoryCommand = Omit<GitCommand, 'gitDirectory' | 'quarantine'>;

/**
 * Opened repository. Opening is free: nothing is read, and a missing folder is an error of the first command.
 * `quarantine` is set in a view that also sees objects of a push or an API write.
 */
export class Repository {
  constructor(
    readonly address: RepositoryAddress,
    readonly directory: string,
    private readonly tools: GitTools,
    readonly quarantine?: Quarantine,
  ) {}

  /** Key of its kept reader: a reader started earlier does not see objects in quarantine. */
  get readerKey(): string {
    return `${this.directory}\0${this.quarantine?.objectDirectory ?? ''}`;
  }

  get readers(): ObjectReaders {
    return this.tools.readers;
  }

  /** Largest pack that a push may send. */
  get pushBytes(): number {
    return this.tools.processes.pushBytes;
  }

  run(command: RepositoryCommand): Promise<GitOutput> {
    return this.tools.processes.run(this.withRepositoryFolder(command));
  }

  /** Runs a command whose input is the output of another one. */
  runPiped(first: RepositoryCommand, second: RepositoryCommand): Promise<GitOutput> {
    return this.tools.processes.runPiped(this.withRepositoryFolder(first), this.withRepositoryFolder(second));
  }

  open(command: RepositoryCommand): Promise<RunningGit> {
    return this.tools.processes.open(this.withRepositoryFolder(command));
  }

  /** Returns a view of the repository that sees the objects in a quarantine and writes into it. */
  withQuarantine(quarantine: Quarantine): Repository {
    return new Repository(this.address, this.directory, this.tools, quarantine);
  }

  private withRepositoryFolder(command: RepositoryCommand): GitCommand {
    return { ...command, gitDirectory: this.directory, quarantine: this.quarantine };
  }
}
