import { Module } from '@nestjs/common';
import { PipelinesModule } from '../pipelines/pipelines.module';
import { PushPipelineStarts } from './push-pipeline-starts';
import { PushPipelineStartsConsumer } from './pushes.consumer';
import { StartPushPipelinesJob } from './start-push-pipelines.job';

/** Pipelines that pushes start. */
@Module({
  imports: [PipelinesModule],
  controllers: [PushPipelineStartsConsumer],
  providers: [PushPipelineStarts, StartPushPipelinesJob],
})
export class PushPipelineStartsModule {}
