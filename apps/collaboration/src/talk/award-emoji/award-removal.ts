import { prepared } from '@rookery/persistence';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { chunkOf, TRACES_CHUNK } from '../../base/noteables/traces';
import type { Traces } from '../../base/noteables/traces';

/** Emoji go with who gave them; things count anew. */
export function awardTracesOf(kinds: readonly NoteableKind[]): Traces {
  return { own: [...kinds.map(ofThings), ofNotes] };
}

const ofNotes = prepared(
  'traces_drop_note_awards',
  `delete from award_emoji where ${chunkOf('award_emoji', 'id', `user_id = $1::bigint and awardable_type = 'Note'`)}
   returning 1`,
);

/** Things are held before their emoji, as by those who give and take: else both would wait for each other. */
function ofThings({ table, type, writes }: NoteableKind) {
  const votes = (name: string): string => `count(*) filter (where gone.name = '${name}')`;
  return prepared(
    `traces_drop_${table}_awards`,
    `with chunk as materialized (
       select id, awardable_id from award_emoji where user_id = $1::bigint and awardable_type = '${type}'
       limit ${TRACES_CHUNK}
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
