import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const notesSettings = defineSettings('notes', {
  rateLimits: setting.flag('RATE_LIMITS', { default: true, about: 'Whether rate limits hold at all.' }),
  commentsPerNoteable: setting.int('NOTES_PER_NOTEABLE_COUNT', {
    default: 5000,
    min: 1,
    max: 1_000_000,
    about: 'Comments, system notes left out, that one issue takes.',
  }),
});
export type NotesSettings = SettingsOf<typeof notesSettings>;
