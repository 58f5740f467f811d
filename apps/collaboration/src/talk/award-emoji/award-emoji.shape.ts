import { nullable, text } from '@rookery/api-v4';
import { NOTEABLE_TYPES } from '@rookery/contracts';
import { json, beginJsonShape } from '../../base/noteables/json.shape';
import { personShape } from '../../base/noteables/person.shape';

/**
 * Award emoji as the API shows it. The SQL uses the aliases `w` (the row) and `u` (its user, who may be missing).
 * Source: reference work-tracking 9.6.
 */
export const awardShape = beginJsonShape<{ readonly externalUrl: string }>('AwardEmoji').fields({
  id: [json.int, () => 'w.id'],
  name: [json.text, () => 'w.name'],
  user: [
    json.objectWhen(personShape),
    ({ externalUrl }) => ({ of: { user: 'u', externalUrl }, when: 'u.id is not null' }),
  ],
  created_at: [json.instant, () => 'w.created_at'],
  updated_at: [json.instant, () => 'w.updated_at'],
  awardable_id: [json.int, () => 'w.awardable_id'],
  awardable_type: [json.choice(...NOTEABLE_TYPES, 'Note'), () => 'w.awardable_type'],
  // URL of the image of a custom emoji; custom emoji do not exist here.
  url: [json.constant(nullable(text)), () => null],
});
