import { Controller } from '@nestjs/common';
import { pushCompleted } from '@rookery/contracts';
import { Jobs } from '@rookery/jobs';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { startPushPipelines } from './start-push-pipelines';

/** Requests the pipelines of pushes. A job starts them, because collaboration has to be asked for the commits. */
@Controller()
export class PushPipelineStartsConsumer {
  constructor(private readonly jobs: Jobs) {}

  @Consume(pushCompleted, { effect: 'start-push-pipelines' })
  async completed({ tx, events }: EffectBatch<typeof pushCompleted>): Promise<void> {
    for (const { data } of events)
      if (data.user_id !== null) await this.jobs.enqueue(tx, startPushPipelines, { push_id: data.push_id });
  }
}
