import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, defineCollection, Owns } from '@rookery/persistence';
import { CollaborationClient } from './collaboration-client';
import { MergeRequestPipelinesController } from './merge-request-pipelines.controller';
import { Pipeline } from './pipeline.entity';
import { PipelineRows } from './pipeline-rows';
import { PipelineStarts } from './pipeline-starts';
import { PipelineRunPermissions } from './pipeline-run-permissions';
import { PipelineVariable } from './pipeline-variable.entity';
import { PipelinesController } from './pipelines.controller';
import { PipelinesQueries } from './pipelines.queries';

const attachedPipelines = declareAttachedTable({
  table: 'pipelines',
  project: 'project_id',
  // Drops the counters of the numbers, too.
  through: defineCollection(Pipeline, { within: 'projectId', numbered: 'iid' }),
  stays: {
    user_id: 'Answers show no user after the user was deleted.',
    push_id: 'The push is a row of collaboration.',
    upstream_job_id: 'The job may be deleted with its own pipeline or project.',
  },
});

/** Pipelines of outside CI systems: their start, lists, variables and deletion. */
@Owns(Pipeline, PipelineVariable)
@Attaches(attachedPipelines)
@Module({
  controllers: [MergeRequestPipelinesController, PipelinesController],
  providers: [CollaborationClient, PipelineRows, PipelineStarts, PipelineRunPermissions, PipelinesQueries],
  exports: [CollaborationClient, PipelineRows, PipelineStarts, PipelineRunPermissions, PipelinesQueries],
})
export class PipelinesModule {}
