import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

const LEAST_SECRET = 32;

/** Source: reference packages-and-admin 8. */
export const geoSettings = defineSettings('geo', {
  siteName: setting.text('GEO_SITE_NAME', {
    default: null,
    about: 'Name of this site among the geo sites; without it, ROOKERY_EXTERNAL_URL.',
  }),
  sharedSecret: setting.secret('GEO_SHARED_SECRET', {
    default: null,
    check: (text) => (text.length < LEAST_SECRET ? `is shorter than ${LEAST_SECRET} characters` : null),
    about:
      'What all sites of geo have in common, at least 32 characters: the primary signs with it when it asks the others how they are. Without it a site asks nobody and answers nobody.',
  }),
});
export type GeoSettings = SettingsOf<typeof geoSettings>;
