import { Module } from '@nestjs/common';
import { attachedTo, Attaches, Owns } from '@rookery/persistence';
import { PipelinesModule } from '../pipelines/pipelines.module';
import { CiJob } from './ci-job.entity';
import { CiJobRows } from './ci-job-rows';
import { JobTokens } from './job-tokens';
import { JobsController } from './jobs.controller';
import { JobsQueries } from './jobs.queries';
import { JobsService } from './jobs.service';
import { JobOfTokenController } from './job-of-token.controller';
import { RunningJobsController } from './running-jobs.controller';
import { OverdueJobsJob } from './overdue-jobs.job';

const attachedJobs = attachedTo({
  table: 'ci_jobs',
  project: 'project_id',
  stays: { user_id: 'The token of a deleted user does nothing, and answers show no user.' },
});

/** Jobs that outside runners open and report, with their tokens; cancellation and repetition of pipelines. */
@Owns(CiJob)
@Attaches(attachedJobs)
@Module({
  imports: [PipelinesModule],
  controllers: [JobsController, JobOfTokenController, RunningJobsController],
  providers: [CiJobRows, JobTokens, JobsQueries, JobsService, OverdueJobsJob],
  exports: [CiJobRows, JobTokens],
})
export class CiJobsModule {}
