import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { CurrentSite } from '../current-site';
import { GeoStatusesQueries } from './geo-statuses.queries';
import { SiteProbeService } from './site-probe.service';

/** Sites that are checked concurrently. */
const AT_ONCE = 8;

/** Once a minute the primary checks all sites. Source: reference packages-and-admin 8.2. */
@Injectable()
export class ProbeSitesJob {
  constructor(
    private readonly statuses: GeoStatusesQueries,
    private readonly probes: SiteProbeService,
    private readonly current: CurrentSite,
  ) {}

  @Job('probe-geo-sites', { cron: '* * * * *' })
  async run(run?: Interruptible): Promise<void> {
    for (let after = 0; ;) {
      const sites = await this.statuses.sitesToProbe(after, AT_ONCE);
      // This estate is a secondary: the primary checks the sites.
      if (sites.some(({ name, isPrimary }) => !isPrimary && this.current.isNamed(name))) return;
      await Promise.all(sites.map((site) => this.probes.probe(site, run?.signal)));
      run?.signal.throwIfAborted();
      if (sites.length < AT_ONCE) return;
      after = sites.at(-1)!.id;
    }
  }
}
