import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { CiJobsModule } from '../jobs/jobs.module';
import { PipelinesModule } from '../pipelines/pipelines.module';
import { PipelineTriggerStarts } from './pipeline-trigger-starts';
import { PipelineTrigger } from './pipeline-trigger.entity';
import { TriggerPipelineController } from './trigger-pipeline.controller';
import { TriggerSecrets } from './trigger-secrets';
import { TriggersController } from './triggers.controller';
import { TriggersService } from './triggers.service';

const attachedTriggers = declareAttachedTable({
  table: 'pipeline_triggers',
  project: 'project_id',
  stays: { owner_id: 'A token of a deleted user starts nothing, and answers show no owner.' },
});

/** Trigger tokens of projects, and pipelines that they start. */
@Owns(PipelineTrigger)
@Attaches(attachedTriggers)
@Module({
  imports: [PipelinesModule, CiJobsModule],
  controllers: [TriggerPipelineController, TriggersController],
  providers: [PipelineTriggerStarts, TriggersService, TriggerSecrets],
})
export class TriggersModule {}
