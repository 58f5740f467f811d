import { Module } from '@nestjs/common';
import { EgressModule } from '@rookery/egress';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { CurrentSite } from './current-site';
import { GeoSite } from './geo-site.entity';
import { GeoSitesController } from './geo-sites.controller';
import { GeoSiteStatus } from './statuses/geo-site-status.entity';
import { GeoStatusesController } from './statuses/geo-statuses.controller';
import { GeoStatusesQueries } from './statuses/geo-statuses.queries';
import { GeoStatusesService } from './statuses/geo-statuses.service';
import { OwnGeoStatusQueries } from './statuses/own-status.queries';
import { OwnGeoStatusService } from './statuses/own-status.service';
import { ProbeSitesJob } from './statuses/probe-sites.job';
import { SiteStatusClient } from './statuses/site-status-client';
import { SiteProbeService } from './statuses/site-probe.service';

const attachedSites = declareAttachedTable({
  table: 'geo_sites',
  stays: { selective_sync_namespace_ids: 'a choice of the administrator; an id of a deleted group selects nothing' },
});

/** Geo sites: estates with the same contents as this one, and their status. The primary checks them once a minute. */
@Owns(GeoSite, GeoSiteStatus)
@Attaches(attachedSites)
@Module({
  imports: [EgressModule],
  controllers: [GeoStatusesController, GeoSitesController],
  providers: [
    ...[CurrentSite, SiteStatusClient, OwnGeoStatusQueries, GeoStatusesQueries],
    ...[SiteProbeService, OwnGeoStatusService, GeoStatusesService, ProbeSitesJob],
  ],
})
export class GeoSitesModule {}
