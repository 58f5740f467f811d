import { Inject, Injectable } from '@nestjs/common';
import { packageStorageMeasured } from '@rookery/contracts';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import { measureStorage } from './package-jobs';

const SIZE = statement<{ project: number }, { size: number }>(
  'package_files_size',
  `select coalesce(sum(f.size), 0)::bigint as size from package_files f
   where f.project_id = :project::bigint and not f.is_pending_destruction`,
);

/** Reports the storage of a project's packages. Files with equal content count once for each row. */
@Injectable()
export class MeasurePackageStorageJob {
  constructor(
    private readonly work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Job(measureStorage)
  async measure({ params: { project_id } }: JobRun<typeof measureStorage>): Promise<void> {
    await this.work.run(async (tx) => {
      const [row] = await tx.run(SIZE, { project: project_id });
      const data = {
        ...{ project_id, packages_size: row!.size, measured_at: this.clock.now().toISOString() },
        ...{ job_artifacts_size: 0, pipeline_artifacts_size: 0, container_registry_size: 0 },
      };
      tx.emit(packageStorageMeasured.of({ aggregateId: project_id, actorId: null, data }));
    });
  }
}
