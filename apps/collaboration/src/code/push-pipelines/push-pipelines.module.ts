import { Module } from '@nestjs/common';
import { RepositoriesModule } from '../repositories/repositories.module';
import { PushPipelinesController } from './push-pipelines.controller';
import { PushPipelines } from './push-pipelines';

/** Pipelines that pushes start in the package service. */
@Module({
  imports: [RepositoriesModule],
  controllers: [PushPipelinesController],
  providers: [PushPipelines],
})
export class PushPipelinesModule {}
