import { Controller, Inject } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, actorAndParent, created, Endpoint, noContent, one, page } from '@rookery/api-v4';
import type { Clock, Page } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import type { Collection } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { CurrentSite } from './current-site';
import { GeoSite } from './geo-site.entity';
import type { IsCurrent } from './geo-site.entity';
import { geoSitePresenter, repairedGeoSitePresenter } from './geo-site.presenter';
import type { RepairedGeoSite } from './geo-site.presenter';
import { geoSites } from './geo-sites';
import { CreateGeoSite, IdentifyGeoSite, UpdateGeoSite } from './geo-sites.dto';
import { GeoStatusesService } from './statuses/geo-statuses.service';

const MANAGES = {
  source: 'requirements 3 §4 Geo sites; reference packages-and-admin 8.1',
  may: administrator(),
} as const;
const COMPLETES = { ...MANAGES, source: 'requirements 3 §4; reference packages-and-admin 8.1' } as const;

/** Older name of geo sites, the only one that older clients know. */
const OLD = { many: '/geo_nodes', one: '/geo_nodes/:id', repair: '/geo_nodes/:id/repair' };

@Controller()
export class GeoSitesController {
  private readonly sites: Collection<GeoSite>;
  private readonly isCurrent: IsCurrent;

  constructor(
    work: Work,
    current: CurrentSite,
    private readonly statuses: GeoStatusesService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.sites = geoSites.on(work);
    this.isCurrent = (name) => current.isNamed(name);
  }

  @Endpoint('GET', '/geo_sites', {
    ...MANAGES,
    about: 'Lists all geo sites in the order of creation.',
    aliases: [OLD.many],
    answers: page(geoSitePresenter),
  })
  list(call: Call): Promise<Page<GeoSite>> {
    return this.sites.list({ page: call.page });
  }

  @Endpoint('GET', '/geo_sites/:id', {
    ...MANAGES,
    about: 'Returns a geo site.',
    aliases: [OLD.one],
    params: IdentifyGeoSite,
    answers: one(geoSitePresenter),
    fails: [404],
  })
  show(call: Call<IdentifyGeoSite>): Promise<GeoSite> {
    return this.sites.find(call.params.id);
  }

  @Endpoint('POST', '/geo_sites', {
    ...MANAGES,
    about: 'Creates a geo site.',
    aliases: [OLD.many],
    params: CreateGeoSite,
    answers: created(geoSitePresenter),
  })
  create(call: Call<CreateGeoSite>): Promise<GeoSite> {
    return this.sites.create(GeoSite.create(call.params, this.isCurrent, this.clock.now()), actorAndParent(call));
  }

  @Endpoint('PUT', '/geo_sites/:id', {
    ...MANAGES,
    about: 'Changes the attributes that are sent.',
    aliases: [OLD.one],
    params: UpdateGeoSite,
    answers: one(geoSitePresenter),
    fails: [404],
  })
  update(call: Call<UpdateGeoSite>): Promise<GeoSite> {
    const { id, ...input } = call.params;
    return this.sites.change(id, (site) => site.change(input, this.isCurrent, this.clock.now()), actorAndParent(call));
  }

  @Endpoint('DELETE', '/geo_sites/:id', {
    ...COMPLETES,
    about: 'Deletes a geo site. Its estate is not affected.',
    aliases: [OLD.one],
    params: IdentifyGeoSite,
    answers: noContent(),
    fails: [404],
  })
  async remove(call: Call<IdentifyGeoSite>): Promise<void> {
    await this.sites.remove(call.params.id, actorAndParent(call));
  }

  @Endpoint('POST', '/geo_sites/:id/repair', {
    ...COMPLETES,
    about: 'Checks the status of a geo site again. Nothing else is repaired, because nothing is copied between sites.',
    aliases: [OLD.repair],
    params: IdentifyGeoSite,
    answers: one(repairedGeoSitePresenter),
    fails: [404],
  })
  repair(call: Call<IdentifyGeoSite>): Promise<RepairedGeoSite> {
    return this.statuses.repair(call.params.id);
  }
}
