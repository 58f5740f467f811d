import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PipelinesModule } from '../pipelines/pipelines.module';
import { CiJob } from './ci-job.entity';
import { CiJobRows } from './ci-job-rows';
import { JobTokens } from './job-tokens';
import { JobsController } from './jobs.controller';
import { JobsQueries } from './jobs.queries';
import { JobsService } from './jobs.service';
import { JobOfTokenController } from './job-of-token.controller';
import { RunningJobsController } from './running-jobs.controller';
import { FailOverdueCiJobsJob } from './overdue-jobs.job';

const attachedJobs = declareAttachedTable({
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
  providers: [CiJobRows, JobTokens, JobsQueries, JobsService, FailOverdueCiJobsJob],
  exports: [CiJobRows, JobTokens],
})
export class CiJobsModule {}
