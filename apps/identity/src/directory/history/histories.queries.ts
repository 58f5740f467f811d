import { HISTORY } from '@rookery/persistence';
import { LOGGED_KINDS, TABLES } from '../change-states';

/** Lives that are kept: a copy that was away for longer loads everything anew. */
const KEPT_LIVES = 1000;

export const LOCKED_HEAD = `select version, epoch, history, ${HISTORY} as now from directory_head for update`;

/** What the log was kept in, when the first process of this release begins. */
export const ADOPT = `update directory_head set history = ${HISTORY}`;

/** Everything that was given out before is at most of the version at which the next life begins. */
export const BEGIN_LIFE = `with head as (
    update directory_head set life = replace(gen_random_uuid()::text, '-', '') returning life, version
  ), old as (
    delete from directory_lives where id <= (select max(id) - ${KEPT_LIVES} from directory_lives)
  ) insert into directory_lives (word, began_at) select life, version from head`;

/**
 * Boolean SQL: whether what a reader says of itself belongs to this history. Shape: over a row of directory_head.
 * A reader who says no life is one of a former release, or the gateway.
 */
export function isKnownSql(o: { readonly version: string; readonly epoch: string; readonly life: string }): string {
  return `(epoch <> ${o.epoch} or (${o.version} <= version and (${o.life} in ('', life) or exists (
    select 1 from directory_lives l where l.word = ${o.life}
      and not exists (select 1 from directory_lives later where later.id > l.id and later.began_at < ${o.version})))))`;
}

/** Kinds whose ids others keep, with their tables. */
const GIVEN: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LOGGED_KINDS.map((kind) => [kind, TABLES[kind]])),
  token: 'access_tokens',
};
export const GIVEN_KINDS = Object.keys(GIVEN);
const sequences = `(values ${Object.entries(GIVEN)
  .map(([kind, table]) => `('${kind}', pg_get_serial_sequence('${table}', 'id')::regclass)`)
  .join(', ')}) as given (kind, sequence)`;

/** $1 the newest version, $2 the most recent readers' span in ms. Ids above the floors are new. */
export const NEXT_EPOCH = `update directory_head set version = $1, compacted_to = $1, history = ${HISTORY},
    epoch = replace(gen_random_uuid()::text, '-', ''),
    awaited = (select case when count(*) > 0 then jsonb_build_object('services', jsonb_agg(r.service order by r.service), 'floors',
        (select jsonb_object_agg(kind, coalesce(pg_sequence_last_value(sequence), 0)) from ${sequences})) end
      from directory_readers r
      where r.seen_at > (select max(seen_at) from directory_readers) - $2::bigint * interval '1 millisecond')
  returning version, epoch`;

/** $1 a JSON object: the highest id of each kind that somebody has seen. Answers the sequences that were behind. */
export const RAISE = `select kind, setval(sequence, seen.id) as id
  from ${sequences} join (select key as kind, value::bigint as id from jsonb_each_text($1::jsonb)) seen using (kind)
  where seen.id > coalesce(pg_sequence_last_value(sequence), 0)`;

/** $1 the service that has said what it has seen. */
export const TOLD = `update directory_head set awaited = case
    when jsonb_array_length((awaited -> 'services') - $1::text) > 0
    then jsonb_set(awaited, '{services}', (awaited -> 'services') - $1::text) end
  where awaited is not null returning awaited is null as is_last`;

export const NOTE_READER = `insert into directory_readers (service, seen_at) values ($1, now())
  on conflict (service) do update set seen_at = excluded.seen_at`;
