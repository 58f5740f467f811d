import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const mentionsSettings = defineSettings('mentions', {
  peoplePerText: setting.int('MENTIONS_PEOPLE_PER_TEXT_COUNT', {
    default: 500,
    min: 1,
    max: 10_000,
    about:
      'Maximum number of users that one text notifies by mentioning them or their groups. Users mentioned by name come first, in the order of the text.',
  }),
});
export type MentionsSettings = SettingsOf<typeof mentionsSettings>;
