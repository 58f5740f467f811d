import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Work } from '@rookery/persistence';
import { housekeepingCron } from '../../identity.config';
import { AddressesService } from './addresses.service';

/** Rows per transaction. */
const BATCH = 500;

/** Removes addresses that were not confirmed in time. Source: reference identity-and-import 10.5. */
@Injectable()
export class UnconfirmedAddressesJob {
  constructor(
    private readonly work: Work,
    private readonly addresses: AddressesService,
  ) {}

  @Job('lapse-unconfirmed-addresses', { cron: housekeepingCron })
  async run(run?: Interruptible): Promise<void> {
    while ((await this.work.run((tx) => this.addresses.removeExpired(tx, BATCH))) === BATCH)
      run?.signal.throwIfAborted();
  }
}
