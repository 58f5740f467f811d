import { Inject, Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import { PipelineRows } from '../pipelines/pipeline-rows';
import { JOB_COLUMNS, CiJobRows } from './ci-job-rows';
import type { CiJobRow } from './ci-job-rows';

const CHUNK = 100;

const OVERDUE = statement<{ now: Date; count: number }, { pipeline_id: number; project_id: number }>(
  'ci_jobs_overdue',
  `select distinct pipeline_id, project_id from (
     select pipeline_id, project_id from ci_jobs where status = 'running' and token_until <= :now::timestamptz
     order by token_until limit :count::int) overdue`,
);
const OVERDUE_IN = statement<{ pipeline: number; now: Date }, CiJobRow>(
  'ci_jobs_overdue_in_pipeline',
  `select ${JOB_COLUMNS} from ci_jobs j
   where j.pipeline_id = :pipeline::bigint and j.status = 'running' and j.token_until <= :now::timestamptz`,
);

/** Fails jobs whose runner has not reported their end in time. Source: reference identity-and-import 7.5. */
@Injectable()
export class FailOverdueCiJobsJob {
  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly pipelines: PipelineRows,
    private readonly jobs: CiJobRows,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Job('fail-overdue-jobs', { cron: '*/5 * * * *' })
  async failOverdue({ signal }: Interruptible): Promise<void> {
    for (;;) {
      const found = await this.database.run(OVERDUE, { now: this.clock.now(), count: CHUNK });
      for (const { pipeline_id: pipelineId, project_id: projectId } of found) {
        signal.throwIfAborted();
        await this.failOverdueJobs(pipelineId, projectId);
      }
      if (found.length === 0) return;
    }
  }

  private failOverdueJobs(pipeline: number, projectId: number): Promise<void> {
    return this.work.run(async (tx) => {
      const locked = await this.pipelines.lockPipeline(tx, pipeline, projectId);
      for (const job of await tx.run(OVERDUE_IN, { pipeline, now: this.clock.now() }))
        await this.jobs.changeJob(tx, job, { status: 'failed', failureReason: 'job_execution_timeout' });
      await this.pipelines.refreshStatus(tx, locked);
    });
  }
}
