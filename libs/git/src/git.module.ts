import { Inject, Injectable, Module } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { LOGGER, Readiness } from '@rookery/platform';
import type { Logger, SettingsOf } from '@rookery/platform';
import { gitSettings, parseStorageFolders } from './git.config';
import { ObjectReaders } from './repository/object-readers';
import { GitProcesses } from './process/git-processes';
import { gitProcessSlotLimits } from './process/process-slots';
import { gitProblem } from './process/version';
import { Repositories } from './repository/repositories';
import { PushHooks } from './transport/push-hooks';

const READER_IDLE_MS = 60_000;

function createProcesses(settings: SettingsOf<typeof gitSettings>): GitProcesses {
  const { memoryBytes, pushBytes, commandsCount, transportsCount } = settings;
  return new GitProcesses({ memoryBytes, pushBytes, slots: gitProcessSlotLimits(commandsCount, transportsCount) });
}

/** Starts the socket of the hooks, keeps the service unready without a usable git, and ends all of it. */
@Injectable()
class GitLifecycle implements OnModuleInit, OnModuleDestroy {
  constructor(
    private readonly processes: GitProcesses,
    private readonly readers: ObjectReaders,
    private readonly hooks: PushHooks,
    private readonly readiness: Readiness,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.hooks.start();
    let problem = await gitProblem(this.processes);
    if (problem !== null) this.logger.error(problem);
    this.readiness.addCheck('git', async () => {
      // A git that was found usable stays so; a missing one may be installed meanwhile.
      if (problem !== null) problem = await gitProblem(this.processes);
      return problem;
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.readers.closeAll();
    await this.hooks.stop();
    this.processes.close();
  }
}

/** Repositories for a service. Needs `gitSettings` among the settings of the process. */
@Module({
  providers: [
    { provide: GitProcesses, inject: [gitSettings.token], useFactory: createProcesses },
    {
      provide: ObjectReaders,
      inject: [GitProcesses, gitSettings.token],
      useFactory: (processes: GitProcesses, { readersCount }: SettingsOf<typeof gitSettings>) =>
        new ObjectReaders(processes, { total: readersCount, idleMs: READER_IDLE_MS }),
    },
    {
      provide: Repositories,
      inject: [GitProcesses, ObjectReaders, gitSettings.token],
      useFactory: (processes: GitProcesses, readers: ObjectReaders, { storages }: SettingsOf<typeof gitSettings>) =>
        new Repositories(parseStorageFolders(storages), { processes, readers }),
    },
    {
      provide: PushHooks,
      inject: [LOGGER],
      useFactory: (logger: Logger) => new PushHooks((err) => logger.error({ err }, 'A push could not be checked')),
    },
    GitLifecycle,
  ],
  exports: [Repositories, PushHooks],
})
export class GitModule {}
