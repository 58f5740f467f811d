import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Ending } from '@rookery/jobs';
import { Work } from '@rookery/persistence';
import { housekeepingCron } from '../../identity.config';
import { AddressesService } from './addresses.service';

/** Rows in one transaction. */
const BATCH = 500;

/** Gives addresses back that were never confirmed. Source: reference identity-and-import 10.5. */
@Injectable()
export class LapseJob {
  constructor(
    private readonly work: Work,
    private readonly addresses: AddressesService,
  ) {}

  @Job('lapse-unconfirmed-addresses', { cron: housekeepingCron })
  async run(run?: Ending): Promise<void> {
    while ((await this.work.run((tx) => this.addresses.lapse(tx, BATCH))) === BATCH) run?.signal.throwIfAborted();
  }
}
