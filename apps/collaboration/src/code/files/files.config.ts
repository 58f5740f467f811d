import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const filesSettings = defineSettings('files', {
  rateLimits: setting.flag('RATE_LIMITS', { default: true, about: 'Whether rate limits apply.' }),
  largeFilesPerMinute: setting.int('REPOSITORY_LARGE_FILES_PER_MINUTE_COUNT', {
    default: 5,
    min: 0,
    max: 100_000,
    about: 'Files above 10 MiB that one process answers within JSON, a minute and project; 0 for no limit.',
  }),
  archivesPerMinute: setting.int('REPOSITORY_ARCHIVES_PER_MINUTE_COUNT', {
    default: 60,
    min: 0,
    max: 100_000,
    about: 'Archives that one process answers, a minute, user and project; 0 for no limit.',
  }),
});
export type FilesSettings = SettingsOf<typeof filesSettings>;
