import { Flag, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { GeoSiteInput } from './geo-site.entity';

export class IdentifyGeoSite {
  @Int() id: number;
}

/** Parameters that creation and update share. The entity validates numbers and texts. */
class GeoSiteFields implements ExactInput<GeoSiteInput, GeoSiteFields> {
  @Text({ optional: true, nullable: true, about: 'URL at which other sites reach it. Default: `url`.' })
  internal_url?: string | null;
  @Flag({ optional: true }) enabled?: boolean;
  @Int({ optional: true }) files_max_capacity?: number;
  @Int({ optional: true }) repos_max_capacity?: number;
  @Int({ optional: true }) verification_max_capacity?: number;
  @Int({ optional: true }) container_repositories_max_capacity?: number;
  @Flag({ optional: true }) sync_object_storage?: boolean;
  @Text({ optional: true, nullable: true, about: '`namespaces`, `shards`, or blank for everything.' })
  selective_sync_type?: string | null;
  @ListOf('text', { optional: true, splitItems: true }) selective_sync_shards?: readonly string[];
  @ListOf('int', { optional: true }) selective_sync_namespace_ids?: readonly number[];
  @Int({ optional: true, about: 'In days.' }) minimum_reverification_interval?: number;
  @Int({ optional: true, about: 'In seconds.' }) blob_download_timeout?: number;
}

/** Source: requirements 3 §4 Geo sites; reference packages-and-admin 8.1. */
export class CreateGeoSite extends GeoSiteFields implements ExactInput<GeoSiteInput, CreateGeoSite, 'primary'> {
  @Text() name: string;
  @Text() url: string;
  @Flag({ optional: true }) primary?: boolean;
}

export class UpdateGeoSite extends GeoSiteFields implements ExactInput<GeoSiteInput, UpdateGeoSite, 'id'> {
  @Int() id: number;
  @Text({ optional: true }) name?: string;
  @Text({ optional: true }) url?: string;
}

export class ShowGeoSiteStatus extends IdentifyGeoSite {
  @Flag({ optional: true, about: 'Checks the status now instead of returning the last result.' }) refresh?: boolean;
}

/** Parameters for listing failures. Source: reference packages-and-admin 8.3. */
export class ListGeoFailures {
  @OneOf(['wiki', 'repository'], { optional: true }) type?: 'wiki' | 'repository';
  @OneOf(['sync', 'checksum_mismatch', 'verification'], { optional: true })
  failure_type?: 'sync' | 'checksum_mismatch' | 'verification';
}

/** Parameters of a status request by another site. */
export class CheckGeoStatus {
  @Text({
    optional: true,
    in: 'header',
    header: 'rookery-geo-signature',
    about: 'Time and signature of the request.',
  })
  signature?: string;
}
