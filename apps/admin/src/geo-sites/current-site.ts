import { Inject, Injectable } from '@nestjs/common';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import type { GeoSettings } from './geo-sites.config';
import { geoSettings } from './geo-sites.config';

/** Which of the sites this estate is: the one that bears its name. */
@Injectable()
export class CurrentSite {
  /** Without a slash at its end. */
  readonly name: string;

  constructor(
    @Inject(geoSettings.token) { siteName }: GeoSettings,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.name = withoutSlash(siteName ?? externalUrl);
  }

  /** A URL as a name may have a slash at its end or none. */
  isNamed(name: string): boolean {
    return withoutSlash(name) === this.name;
  }
}

function withoutSlash(name: string): string {
  return name.trim().replace(/\/+$/, '');
}
