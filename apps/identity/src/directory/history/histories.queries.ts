import { HISTORY } from '@rookery/persistence';
import { LOGGED_KINDS, TABLES } from '../change-states';

/** Number of kept lives. A copy that was disconnected for longer loads the whole log again. */
const KEPT_LIVES = 1000;

export const LOCKED_HEAD = `select version, epoch, history, ${HISTORY} as now from directory_head for update`;

/** Records the database of the log when the first process of this release starts. */
export const ADOPT = `update directory_head set history = ${HISTORY}`;

/** Starts a life of the log. All versions sent to readers before are at most the version at which it begins. */
export const BEGIN_LIFE = `with head as (
    update directory_head set life = replace(gen_random_uuid()::text, '-', '') returning life, version
  ), old as (
    delete from directory_lives where id <= (select max(id) - ${KEPT_LIVES} from directory_lives)
  ) insert into directory_lives (word, began_at) select life, version from head`;

/**
 * Boolean SQL over a row of directory_head: the reader's position belongs to this history. A reader with an empty life
 * runs a previous release, or is the gateway.
 */
export function isReaderPositionInHistorySql(readerPosition: {
  readonly version: string;
  readonly epoch: string;
  readonly life: string;
}): string {
  return `(epoch <> ${readerPosition.epoch} or (${readerPosition.version} <= version and (${readerPosition.life} in ('', life) or exists (
    select 1 from directory_lives l where l.word = ${readerPosition.life}
      and not exists (select 1 from directory_lives later where later.id > l.id and later.began_at < ${readerPosition.version})))))`;
}

/** Kinds whose ids other processes store, with their tables. */
const ISSUED_ID_TABLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LOGGED_KINDS.map((kind) => [kind, TABLES[kind]])),
  token: 'access_tokens',
};
export const ISSUED_ID_KINDS = Object.keys(ISSUED_ID_TABLES);
const sequences = `(values ${Object.entries(ISSUED_ID_TABLES)
  .map(([kind, table]) => `('${kind}', pg_get_serial_sequence('${table}', 'id')::regclass)`)
  .join(', ')}) as given (kind, sequence)`;

/**
 * Starts a new epoch. $1 is the newest version, $2 the period in ms within which a reader must have read. Ids above the
 * floors are new.
 */
export const NEXT_EPOCH = `update directory_head set version = $1, compacted_to = $1, history = ${HISTORY},
    epoch = replace(gen_random_uuid()::text, '-', ''),
    awaited = (select case when count(*) > 0 then jsonb_build_object('services', jsonb_agg(r.service order by r.service), 'floors',
        (select jsonb_object_agg(kind, coalesce(pg_sequence_last_value(sequence), 0)) from ${sequences})) end
      from directory_readers r
      where r.seen_at > (select max(seen_at) from directory_readers) - $2::bigint * interval '1 millisecond')
  returning version, epoch`;

/**
 * Raises sequences above ids that a copy has seen. $1 is a JSON object: the highest id of each kind. Returns the
 * sequences that were behind.
 */
export const RAISE_SEQUENCES = `select kind, setval(sequence, seen.id) as id
  from ${sequences} join (select key as kind, value::bigint as id from jsonb_each_text($1::jsonb)) seen using (kind)
  where seen.id > coalesce(pg_sequence_last_value(sequence), 0)`;

/** Records that a service has reported the ids it has seen. $1 is the service. */
export const MARK_REPORTED = `update directory_head set awaited = case
    when jsonb_array_length((awaited -> 'services') - $1::text) > 0
    then jsonb_set(awaited, '{services}', (awaited -> 'services') - $1::text) end
  where awaited is not null returning awaited is null as is_last`;

export const NOTE_READER = `insert into directory_readers (service, seen_at) values ($1, now())
  on conflict (service) do update set seen_at = excluded.seen_at`;
