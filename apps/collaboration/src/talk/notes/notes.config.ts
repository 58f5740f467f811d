import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const notesSettings = defineSettings('notes', {
  rateLimits: setting.flag('RATE_LIMITS', { default: true, about: 'Whether rate limits apply.' }),
  commentsPerNoteable: setting.int('NOTES_PER_NOTEABLE_COUNT', {
    default: 5000,
    min: 1,
    max: 1_000_000,
    about: 'Maximum number of comments on one issue, without system notes.',
  }),
});
export type NotesSettings = SettingsOf<typeof notesSettings>;
