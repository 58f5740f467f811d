import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, anyone, Endpoint, one, page } from '@rookery/api-v4';
import type { Page } from '@rookery/kernel';
import { CheckGeoStatus, ListGeoFailures, ShowGeoSiteStatus } from '../geo-sites.dto';
import { GeoStatusesService } from './geo-statuses.service';
import { geoFailurePresenter, geoStatusPresenter } from './geo-status.presenter';
import { OwnStatusService } from './own-status.service';
import type { ShownStatus } from './site-status';

const SOURCE = 'requirements 3 §4; reference packages-and-admin 8.2';

/** How sites are. */
@Controller()
export class GeoStatusesController {
  constructor(
    private readonly statuses: GeoStatusesService,
    private readonly own: OwnStatusService,
  ) {}

  @Endpoint('GET', '/geo_sites/status', {
    about: 'How all sites were found that are switched on and were asked.',
    source: SOURCE,
    may: administrator(),
    aliases: ['/geo_sites/statuses', '/geo_nodes/status', '/geo_nodes/statuses'],
    answers: page(geoStatusPresenter),
  })
  list(call: Call): Promise<Page<ShownStatus>> {
    return this.statuses.list(call.page);
  }

  @Endpoint('GET', '/geo_sites/current/failures', {
    about: 'What this site, a secondary, failed to copy: nothing, since nothing is copied.',
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
    about: 'How a site was found: this one now, others when they were last asked.',
    source: SOURCE,
    may: administrator(),
    aliases: ['/geo_nodes/:id/status'],
    params: ShowGeoSiteStatus,
    answers: one(geoStatusPresenter),
    fails: [404],
  })
  show({ params }: Call<ShowGeoSiteStatus>): Promise<ShownStatus> {
    return this.statuses.show(params.id, params.refresh ?? false);
  }

  @Endpoint('GET', '//-/geo/status', {
    about: 'How this estate is, for other sites, which sign with the secret that all of them share.',
    source: 'reference packages-and-admin 8.4',
    may: anyone(),
    tokenScopes: 'any',
    params: CheckGeoStatus,
    answers: one(geoStatusPresenter),
    fails: [401],
  })
  check({ params }: Call<CheckGeoStatus>): Promise<ShownStatus> {
    return this.own.tell(params.signature);
  }
}
