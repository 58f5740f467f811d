import { defineSettings, setting } from '@rookery/platform';

/** Settings of the package service. */
export const packageSettings = defineSettings('package', {
  sweepCron: setting.cron('PACKAGES_SWEEP_CRON', {
    default: '41 3 * * *',
    about: 'When uploaded files that no package uses are removed, in UTC.',
  }),
});
