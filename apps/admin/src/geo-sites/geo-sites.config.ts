import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

const LEAST_SECRET = 32;

/** Source: reference packages-and-admin 8. */
export const geoSettings = defineSettings('geo', {
  siteName: setting.text('GEO_SITE_NAME', {
    default: null,
    about: 'Name of this site among the geo sites. Default: ROOKERY_EXTERNAL_URL.',
  }),
  sharedSecret: setting.secret('GEO_SHARED_SECRET', {
    default: null,
    check: (text) => (text.length < LEAST_SECRET ? `is shorter than ${LEAST_SECRET} characters` : null),
    about:
      'Shared secret of all geo sites, at least 32 characters. The primary signs status requests to other sites with it. Without it a site neither sends nor answers status requests.',
  }),
});
export type GeoSettings = SettingsOf<typeof geoSettings>;
