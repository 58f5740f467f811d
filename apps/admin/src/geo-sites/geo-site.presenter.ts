import { bool, choice, int, list, nullable, object, presenter, text } from '@rookery/api-v4';
import { SELECTIVE_SYNC_TYPES } from './geo-site.entity';
import type { PresentContext } from '@rookery/api-v4';
import { CurrentSite } from './current-site';
import type { GeoSite } from './geo-site.entity';
import { HEALTH_STATUSES, healthStatusOf } from './statuses/site-status';
import type { ProbeResult } from './statuses/site-status';

const onlyForSecondaries = { when: (site: GeoSite) => !site.isPrimary };

/** URL below `/geo_sites`, also for requests below `/geo_nodes`. */
export const geoSiteApiUrl = ({ links }: PresentContext, id: number, path = ''): string =>
  links.apiUrl(`geo_sites/${id}${path}`);

const buildSiteLinks = (ctx: PresentContext, { id }: GeoSite) => ({
  self: geoSiteApiUrl(ctx, id),
  status: geoSiteApiUrl(ctx, id, '/status'),
  repair: geoSiteApiUrl(ctx, id, '/repair'),
});

/** Source: requirements 3 §2 Geo site; reference packages-and-admin 8.1. */
export const geoSitePresenter = presenter<GeoSite>('GeoSite').fields({
  id: [int, (site) => site.id],
  name: [text, (site) => site.name],
  url: [text, (site) => site.url],
  internal_url: [text, (site) => site.address],
  primary: [bool, (site) => site.isPrimary],
  enabled: [bool, (site) => site.enabled],
  current: [bool, (site, _loaded, ctx) => ctx.get<CurrentSite>(CurrentSite).isNamed(site.name)],
  files_max_capacity: [int, (site) => site.filesMaxCapacity],
  repos_max_capacity: [int, (site) => site.reposMaxCapacity],
  verification_max_capacity: [int, (site) => site.verificationMaxCapacity],
  container_repositories_max_capacity: [int, (site) => site.containerRepositoriesMaxCapacity],
  selective_sync_type: [nullable(choice(...SELECTIVE_SYNC_TYPES)), (site) => site.selectiveSyncType],
  selective_sync_shards: [list(text), (site) => site.selectiveSyncShards],
  selective_sync_namespace_ids: [list(int), (site) => site.selectiveSyncNamespaceIds],
  minimum_reverification_interval: [int, (site) => site.minimumReverificationInterval],
  blob_download_timeout: [int, (site) => site.blobDownloadTimeout],
  sync_object_storage: [bool, (site) => site.syncObjectStorage, onlyForSecondaries],
  web_edit_url: [text, (site, _loaded, ctx) => ctx.links.webUrl(`admin/geo/sites/${site.id}/edit`)],
  web_geo_replication_details_url: [
    text,
    (site) => `${site.url}admin/geo/sites/${site.id}/replication/lfs_objects`,
    onlyForSecondaries,
  ],
  _links: [object({ self: text, status: text, repair: text }), (site, _loaded, ctx) => buildSiteLinks(ctx, site)],
});

/** A site with the result of a status check made just now. */
export type RepairedGeoSite = GeoSite & { readonly found: ProbeResult };

/**
 * Some clients read the answer as a site, others as a status, so it has the fields of both. Source: reference
 * packages-and-admin 8.1.
 */
export const repairedGeoSitePresenter = geoSitePresenter.extend<RepairedGeoSite>('RepairedGeoSite').fields({
  geo_node_id: [int, ({ id }) => id],
  healthy: [bool, ({ found }) => found.isHealthy],
  health: [text, ({ found }) => found.health],
  health_status: [choice(...HEALTH_STATUSES), ({ found }) => healthStatusOf(found)],
  missing_oauth_application: [bool, () => false],
  _links: [
    object({ self: text, status: text, repair: text, site: text }),
    (site, _loaded, ctx) => ({ ...buildSiteLinks(ctx, site), site: geoSiteApiUrl(ctx, site.id) }),
  ],
});
