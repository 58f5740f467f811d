import { Inject, Injectable } from '@nestjs/common';
import { Repositories } from '@rookery/git';
import { Job } from '@rookery/jobs';
import type { SettingsOf } from '@rookery/platform';
import { importSettings } from '../../import.config';

/** Time that a stage takes in addition to fetching and storing. Units: ms. */
const MARGIN_MS = 3_600_000;

/** Deletes scratch repositories of processes that were killed. */
@Injectable()
export class SweepScratchRepositoriesJob {
  constructor(
    private readonly repositories: Repositories,
    @Inject(importSettings.token) private readonly settings: SettingsOf<typeof importSettings>,
  ) {}

  @Job('sweep-scratch-repositories', { cron: '23 * * * *' })
  async sweep(): Promise<void> {
    await this.repositories.sweepScratch(2 * this.settings.repositoryMs + MARGIN_MS);
  }
}
