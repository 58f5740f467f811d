import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const activitySettings = defineSettings('activity', {
  retentionDays: setting.int('ACTIVITY_RETENTION_DAYS', {
    default: 1096,
    min: 1,
    about: 'How long feeds keep their entries; by default three years and a day.',
  }),
});
export type ActivitySettings = SettingsOf<typeof activitySettings>;
