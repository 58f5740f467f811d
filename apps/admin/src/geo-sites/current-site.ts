import { Inject, Injectable } from '@nestjs/common';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import type { GeoSettings } from './geo-sites.config';
import { geoSettings } from './geo-sites.config';

/** Identifies the geo site that this estate is: the one with its configured name. */
@Injectable()
export class CurrentSite {
  /** Name without a trailing slash. */
  readonly name: string;

  constructor(
    @Inject(geoSettings.token) { siteName }: GeoSettings,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.name = trimTrailingSlashes(siteName ?? externalUrl);
  }

  /** Whether a site has this name. A trailing slash is ignored, because names may be URLs. */
  isNamed(name: string): boolean {
    return trimTrailingSlashes(name) === this.name;
  }
}

function trimTrailingSlashes(name: string): string {
  return name.trim().replace(/\/+$/, '');
}
