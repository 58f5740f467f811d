import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const mentionsSettings = defineSettings('mentions', {
  peoplePerText: setting.int('MENTIONS_PEOPLE_PER_TEXT_COUNT', {
    default: 500,
    min: 1,
    max: 10_000,
    about:
      'Most people whom one text reaches by naming them or their groups; those named first and by their own name go first.',
  }),
});
export type MentionsSettings = SettingsOf<typeof mentionsSettings>;
