import { Flag, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import type { NothingBut } from '@rookery/kernel';
import type { GeoSiteInput } from './geo-site.entity';

export class OneGeoSite {
  @Int() id: number;
}

/** What creation and change have in common; numbers and words are judged by the site. */
class GeoSiteFields implements NothingBut<GeoSiteInput, GeoSiteFields> {
  @Text({ optional: true, nullable: true, about: 'Where other sites reach it; default: `url`.' })
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
export class CreateGeoSite extends GeoSiteFields implements NothingBut<GeoSiteInput, CreateGeoSite, 'primary'> {
  @Text() name: string;
  @Text() url: string;
  @Flag({ optional: true }) primary?: boolean;
}

export class UpdateGeoSite extends GeoSiteFields implements NothingBut<GeoSiteInput, UpdateGeoSite, 'id'> {
  @Int() id: number;
  @Text({ optional: true }) name?: string;
  @Text({ optional: true }) url?: string;
}

export class ShowGeoSiteStatus extends OneGeoSite {
  @Flag({ optional: true, about: 'Asks the site now, in place of showing what was last found.' }) refresh?: boolean;
}

/** What could have failed. Source: reference packages-and-admin 8.3. */
export class ListGeoFailures {
  @OneOf(['wiki', 'repository'], { optional: true }) type?: 'wiki' | 'repository';
  @OneOf(['sync', 'checksum_mismatch', 'verification'], { optional: true })
  failure_type?: 'sync' | 'checksum_mismatch' | 'verification';
}

/** Another site asks. */
export class CheckGeoStatus {
  @Text({
    optional: true,
    in: 'header',
    header: 'rookery-geo-signature',
    about: 'When it was asked, and the signature of that.',
  })
  signature?: string;
}
