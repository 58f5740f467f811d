import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const notesSettings = defineSettings('notes', {
  createsPerMinute: setting.int('NOTES_CREATES_PER_MINUTE_COUNT', {
    default: 300,
    min: 0,
    max: 1_000_000,
    about: 'Notes that one person may write in a minute, counted over all replicas; 0 = no limit.',
  }),
  unlimitedUsernames: setting.list('NOTES_UNLIMITED_USERNAMES', {
    default: [],
    about: 'People whose notes are not counted.',
  }),
  rateLimits: setting.flag('RATE_LIMITS', { default: true, about: 'Whether rate limits hold at all.' }),
  commentsPerNoteable: setting.int('NOTES_PER_NOTEABLE_COUNT', {
    default: 5000,
    min: 1,
    max: 1_000_000,
    about: 'Comments, system notes left out, that one issue takes.',
  }),
});
export type NotesSettings = SettingsOf<typeof notesSettings>;
