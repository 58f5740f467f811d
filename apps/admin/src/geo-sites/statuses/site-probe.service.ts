import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import { CurrentSite } from '../current-site';
import type { ProbedSite } from './geo-statuses.queries';
import { GeoStatusesQueries } from './geo-statuses.queries';
import { OwnGeoStatusQueries } from './own-status.queries';
import { SiteStatusClient } from './site-status-client';
import { healthyResult } from './site-status';
import type { ProbeResult } from './site-status';

/** Checks sites and stores the results. */
@Injectable()
export class SiteProbeService {
  constructor(
    private readonly statuses: GeoStatusesQueries,
    private readonly own: OwnGeoStatusQueries,
    private readonly client: SiteStatusClient,
    private readonly current: CurrentSite,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Errors: the reason of the signal. */
  async probe(site: ProbedSite, signal?: AbortSignal): Promise<ProbeResult> {
    const found = this.current.isNamed(site.name)
      ? healthyResult(await this.own.measure())
      : await this.client.fetchStatus(site.address, signal);
    await this.statuses.storeResult(site, found, this.clock.now());
    return found;
  }
}
