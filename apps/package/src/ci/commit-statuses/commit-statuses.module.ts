import { Module } from '@nestjs/common';
import { CiJobsModule } from '../jobs/jobs.module';
import { PipelinesModule } from '../pipelines/pipelines.module';
import { CommitStatusesController } from './commit-statuses.controller';
import { CommitStatusesQueries } from './commit-statuses.queries';
import { CommitStatusesService } from './commit-statuses.service';
import { StatusCommits } from './status-commits';

/** Statuses that outside CI systems report on commits. */
@Module({
  imports: [PipelinesModule, CiJobsModule],
  controllers: [CommitStatusesController],
  providers: [CommitStatusesQueries, CommitStatusesService, StatusCommits],
})
export class CommitStatusesModule {}
