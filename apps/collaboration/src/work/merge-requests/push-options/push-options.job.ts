import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { applyPushOptions } from './apply-push-options';
import { MergeRequestPushOptionsService } from './merge-request-push-options.service';

/** Applies push options after a crash. Source: reference repositories 1.5. */
@Injectable()
export class PushOptionsJob {
  constructor(private readonly requests: MergeRequestPushOptionsService) {}

  @Job(applyPushOptions)
  async run({ params }: Pick<JobRun<typeof applyPushOptions>, 'params'>): Promise<void> {
    await this.requests.applyOptions(params.push_id);
  }
}
