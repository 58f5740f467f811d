import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Page, PageRequest } from '@rookery/kernel';
import { CLOCK, Forbidden, NotFound, pageOf } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { CurrentSite } from '../current-site';
import type { GeoSite } from '../geo-site.entity';
import { geoSites } from '../geo-sites';
import { GeoStatusesQueries } from './geo-statuses.queries';
import type { StatusRow } from './geo-statuses.queries';
import { SiteProbeService } from './site-probe.service';
import { downgradeOutdatedProbeResult } from './site-status';
import type { ProbeResult, SiteStatus } from './site-status';

/** Status of sites: measured now for this one, results of the last check for others. */
@Injectable()
export class GeoStatusesService {
  constructor(
    private readonly work: Work,
    private readonly statuses: GeoStatusesQueries,
    private readonly probes: SiteProbeService,
    private readonly current: CurrentSite,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async list(request: PageRequest): Promise<Page<SiteStatus>> {
    const page = await this.statuses.list(request);
    return { ...page, rows: page.rows.map((row) => this.toSiteStatus(row)) };
  }

  /** `refresh` checks the site first. Errors: NotFound for the site or its status. */
  async show(siteId: number, refresh: boolean): Promise<SiteStatus> {
    const site = await geoSites.on(this.work).find(siteId);
    if (site.enabled && (refresh || this.current.isNamed(site.name))) await this.probes.probe(site);
    const row = await this.statuses.findStatus(siteId);
    if (!row) throw new NotFound('Status for Geo site not found');
    return this.toSiteStatus(row);
  }

  /** Checks the site now and returns it with the result. Errors: NotFound. */
  async repair(siteId: number): Promise<GeoSite & { readonly found: ProbeResult }> {
    const site = await geoSites.on(this.work).find(siteId);
    return Object.assign(site, { found: await this.probes.probe(site) });
  }

  /**
   * Lists the failures of this site: always empty, because nothing is copied between sites. Errors: NotFound when this
   * estate is not a site, Forbidden when it is the primary, which copies from no site. Source: reference
   * packages-and-admin 8.3.
   */
  async failures(request: PageRequest): Promise<Page<never>> {
    const site = await this.statuses.findSite(this.current.name);
    if (site === null) throw new NotFound('Geo site not found');
    if (site.isPrimary) throw new Forbidden('Failures can only be requested from a secondary site');
    return pageOf<never>(request, [], 0);
  }

  private toSiteStatus(row: StatusRow): SiteStatus {
    const { is_healthy: isHealthy, health, measured, checked_at: checkedAt } = row;
    return {
      siteId: row.site_id,
      isPrimary: row.is_primary,
      selectiveSyncType: row.selective_sync_type,
      namespaces: row.namespaces,
      found: downgradeOutdatedProbeResult({ isHealthy, health, measured }, checkedAt, this.clock.now()),
      checkedAt,
      healthyAt: row.healthy_at,
    };
  }
}
