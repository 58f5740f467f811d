import { Inject, Injectable } from '@nestjs/common';
import { collaborationStorageMeasured } from '@rookery/contracts';
import { countCommits, countObjects, measureMaintenanceBacklog, packRepository, readHead, readRef } from '@rookery/git';
import type { Repository } from '@rookery/git';
import { Job, Jobs } from '@rookery/jobs';
import type { Interruptible, JobRun } from '@rookery/jobs';
import { Database, statement, Work } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { maintainRepository, needsMaintenance } from './maintain-repository';
import { measureRepository } from './measure-repository';
import { ProjectRepositories } from './project-repositories';
import { PushSettlement } from './ref-updates/settlement';

const BATCH = 100;

/** Longest count of the commits of a repository. Units: milliseconds. */
const COUNT_MS = 1_800_000;

interface MeasureRun {
  readonly params: { readonly project_id: number };
  readonly signal?: AbortSignal | undefined;
}

const selectAbandonedPushes = statement<object, { id: number; project_id: number }>(
  'pushes_abandoned',
  `select id, project_id from pushes where settled_at is null and leased_until < now() order by leased_until limit ${BATCH}`,
);

const storeRepositorySize = statement<{ projectId: number; size: number }, never>(
  'repositories_note_size',
  'update repositories set size = :size::bigint where project_id = :projectId::bigint',
);

/** Background work on repositories: sizes, packing, pushes of dead processes, leftover folders. Source: ADR 0185. */
@Injectable()
export class RepositoriesJob {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly settlement: PushSettlement,
    private readonly database: Database,
    private readonly work: Work,
    private readonly jobs: Jobs,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Job(measureRepository)
  async measure({ params, signal }: MeasureRun): Promise<void> {
    const repository = await this.repositories.findRepository(params.project_id);
    if (!repository) return;
    // A repository that needs packing may be too slow to measure, so the packing does not wait for that.
    if (needsMaintenance({ ...(await countObjects(repository)), ...(await measureMaintenanceBacklog(repository)) }))
      await this.work.run((tx) => this.jobs.enqueue(tx, maintainRepository, params));
    await this.recordMeasurement(repository, { params, signal });
  }

  /**
   * Packs a repository, whose size changes by that. It asks for no further packing: where packing leaves many packs, each
   * would only cause the next one.
   */
  @Job(maintainRepository)
  async maintain({ params, signal }: Pick<JobRun<typeof maintainRepository>, 'params' | 'signal'>): Promise<void> {
    const repository = await this.repositories.findRepository(params.project_id);
    if (!repository) return;
    await packRepository(repository, signal);
    await this.recordMeasurement(repository, { params, signal });
  }

  private async recordMeasurement(repository: Repository, { params, signal }: MeasureRun): Promise<void> {
    const measuredAt = new Date().toISOString();
    const head = await readRef(repository, await readHead(repository));
    const counts = await countObjects(repository);
    const max = Number.MAX_SAFE_INTEGER;
    const slowly = { lane: 'inside', limits: { ms: COUNT_MS, idleMs: COUNT_MS }, signal } as const;
    const data = {
      project_id: params.project_id,
      repository_size: counts.bytes,
      wiki_size: 0,
      lfs_objects_size: 0,
      snippets_size: 0,
      uploads_size: 0,
      commit_count: head === null ? 0 : await countCommits(repository, { from: [head], max }, slowly),
      measured_at: measuredAt,
    };
    await this.work.run(async (tx) => {
      await tx.run(storeRepositorySize, { projectId: params.project_id, size: counts.bytes });
      tx.emit(collaborationStorageMeasured.of({ aggregateId: params.project_id, actorId: null, data }));
    });
  }

  /** Settles pushes whose process died between the intent and the settlement. Returns their number. */
  @Job('settle-pushes', { cron: '* * * * *' })
  async settle(run?: Interruptible): Promise<number> {
    const pushes = await this.database.run(selectAbandonedPushes, {});
    for (const { id, project_id: projectId } of pushes) {
      run?.signal.throwIfAborted();
      try {
        const repository = await this.repositories.findRepository(projectId);
        if (repository) await this.settlement.settlePush(repository, id, null);
      } catch (error) {
        // One push does not keep those of other projects waiting; it is tried again in a minute.
        run?.signal.throwIfAborted();
        this.logger.error({ err: error, pushId: id, projectId }, 'a push could not be settled');
      }
    }
    return pushes.length;
  }

  /** Removes folders of deleted projects, and folders that dead processes left. */
  @Job('sweep-repositories', { cron: '41 * * * *' })
  async sweep(run?: Interruptible): Promise<void> {
    await this.repositories.removeDeleted(run?.signal);
    await this.repositories.sweep();
  }
}
