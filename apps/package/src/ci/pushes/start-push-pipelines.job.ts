import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { PushPipelineStarts } from './push-pipeline-starts';
import { startPushPipelines } from './start-push-pipelines';

@Injectable()
export class StartPushPipelinesJob {
  constructor(private readonly starts: PushPipelineStarts) {}

  @Job(startPushPipelines)
  async start({ params }: Pick<JobRun<typeof startPushPipelines>, 'params'>): Promise<void> {
    await this.starts.startPipelines(params.push_id);
  }
}
