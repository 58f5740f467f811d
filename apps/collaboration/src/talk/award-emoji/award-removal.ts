import { declareAttachedTable, DEPARTURE_CHUNK, prepareStatement } from '@rookery/persistence';
import type { NoteableKind, NoteableKinds } from '../../base/noteables/noteable-kinds';

/** Removal of award emoji. Source: reference work-tracking 9.6. */
export const attachedAwards = declareAttachedTable<NoteableKinds>({
  table: 'award_emoji',
  noteable: { type: 'noteable_type', id: 'noteable_id' },
  project: 'project_id',
  users: [
    {
      column: 'user_id',
      onRemoval: 'hook',
      because: 'the same statement updates the vote counters of noteables',
      statements: (kinds) => [...kinds.withAbility('awards').map(prepareDepartedUserAwardRemoval), dropAwardsOfNotes],
    },
  ],
  stays: { awardable_id: 'a note, whose deletion has its own effect, or the noteable itself' },
});

const dropAwardsOfNotes = prepareStatement(
  'removal_award_emoji_of_notes',
  `delete from award_emoji where id = any(array(
     select id from award_emoji where user_id = $1::bigint and awardable_type = 'Note'
     limit ${DEPARTURE_CHUNK} for no key update))
   returning 1`,
);

/** Locks noteables before their emoji, in the order of every request that changes emoji: this avoids deadlocks. */
function prepareDepartedUserAwardRemoval({ table, type, writes }: NoteableKind) {
  const votes = (name: string): string => `count(*) filter (where gone.name = '${name}')`;
  return prepareStatement(
    `removal_award_emoji_of_${table}`,
    `with chunk as materialized (
       select id, awardable_id from award_emoji where user_id = $1::bigint and awardable_type = '${type}'
       limit ${DEPARTURE_CHUNK}
     ), held as materialized (
       select i.id from ${table} i where i.id = any(array(select awardable_id from chunk)) order by i.id for no key update
     ), gone as (
       delete from award_emoji where id = any(array(select id from chunk)) and (select count(*) from held) >= 0
       returning awardable_id, name
     ), counted as (
       ${writes.update} upvotes_count = i.upvotes_count - c.up, downvotes_count = i.downvotes_count - c.down
       from (select gone.awardable_id, ${votes('thumbsup')} as up, ${votes('thumbsdown')} as down from gone
         group by gone.awardable_id) c
       where i.id = c.awardable_id and c.up + c.down > 0
     )
     select 1 from chunk`,
  );
}
