import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, anyone, Endpoint, one, page } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { CheckGeoStatus, ListGeoFailures, ShowGeoSiteStatus } from '../geo-sites.dto';
import { GeoStatusesService } from './geo-statuses.service';
import { geoFailurePresenter, geoStatusPresenter } from './geo-status.presenter';
import { OwnGeoStatusService } from './own-status.service';
import type { SiteStatus } from './site-status';

const SOURCE = 'requirements 3 §4; reference packages-and-admin 8.2';

/** Status of geo sites. */
@Controller()
export class GeoStatusesController {
  constructor(
    private readonly statuses: GeoStatusesService,
    private readonly own: OwnGeoStatusService,
  ) {}

  @Endpoint('GET', '/geo_sites/status', {
    about: 'Lists the last known status of all enabled sites that have been checked.',
    source: SOURCE,
    may: administrator(),
    aliases: ['/geo_sites/statuses', '/geo_nodes/status', '/geo_nodes/statuses'],
    answers: page(geoStatusPresenter),
  })
  list(call: Call): Promise<Page<SiteStatus>> {
    return this.statuses.list(call.page);
  }

  @Endpoint('GET', '/geo_sites/current/failures', {
    about: 'Lists what this site, a secondary, failed to copy. Always empty, because nothing is copied.',
    source: 'reference packages-and-admin 8.3',
    may: administrator(),
    aliases: ['/geo_nodes/current/failures'],
    params: ListGeoFailures,
    answers: page(geoFailurePresenter),
    fails: [403, 404],
  })
  failures(call: Call<ListGeoFailures>): Promise<Page<never>> {
    return this.statuses.failures(call.page);
  }

  @Endpoint('GET', '/geo_sites/:id/status', {
    about: 'Returns the status of a site: measured now for this one, the last known one for others.',
    source: SOURCE,
    may: administrator(),
    aliases: ['/geo_nodes/:id/status'],
    params: ShowGeoSiteStatus,
    answers: one(geoStatusPresenter),
    fails: [404],
  })
  show({ params }: Call<ShowGeoSiteStatus>): Promise<SiteStatus> {
    return this.statuses.show(params.id, params.refresh ?? false);
  }

  @Endpoint('GET', '//-/geo/status', {
    about: 'Returns the status of this estate to other sites, which sign the request with the shared secret.',
    source: 'reference packages-and-admin 8.4',
    may: anyone(),
    tokenScopes: 'any',
    params: CheckGeoStatus,
    answers: one(geoStatusPresenter),
    fails: [401],
  })
  check({ params }: Call<CheckGeoStatus>): Promise<SiteStatus> {
    return this.own.report(params.signature);
  }
}
