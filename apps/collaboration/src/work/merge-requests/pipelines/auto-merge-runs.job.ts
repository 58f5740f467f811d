import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible, JobRun } from '@rookery/jobs';
import { AutoMergeRuns } from './auto-merge-runs';
import { mergeAutomatically } from './merge-automatically';

/** Background work on automatic merges. Source: reference repositories 8.16. */
@Injectable()
export class AutoMergeRunsJob {
  constructor(private readonly runs: AutoMergeRuns) {}

  /** Tries the automatic merges of a project after the end of a pipeline. */
  @Job(mergeAutomatically)
  async ofProject({ params }: Pick<JobRun<typeof mergeAutomatically>, 'params'>): Promise<void> {
    await this.runs.tryAll(params.project_id);
  }

  /** Tries all automatic merges whose other checks may pass by now: approvals, threads, drafts and times. */
  @Job('merge-automatically-everywhere', { cron: '* * * * *' })
  everywhere(run?: Interruptible): Promise<number> {
    return this.runs.tryAll(null, run?.signal);
  }
}
