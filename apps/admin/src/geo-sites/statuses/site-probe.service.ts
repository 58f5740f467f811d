import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import { CurrentSite } from '../current-site';
import type { SiteToAsk } from './geo-statuses.queries';
import { GeoStatusesQueries } from './geo-statuses.queries';
import { OwnStatusQueries } from './own-status.queries';
import { SiteStatusClient } from './site-status-client';
import { healthy } from './site-status';
import type { Finding } from './site-status';

/** Checks sites and stores the results. */
@Injectable()
export class SiteProbeService {
  constructor(
    private readonly statuses: GeoStatusesQueries,
    private readonly own: OwnStatusQueries,
    private readonly client: SiteStatusClient,
    private readonly current: CurrentSite,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Errors: the reason of the signal. */
  async probe(site: SiteToAsk, signal?: AbortSignal): Promise<Finding> {
    const found = this.current.isNamed(site.name)
      ? healthy(await this.own.measure())
      : await this.client.ask(site.address, signal);
    await this.statuses.store(site, found, this.clock.now());
    return found;
  }
}
