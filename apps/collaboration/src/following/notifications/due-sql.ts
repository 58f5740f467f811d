import { parentSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { reachedSql } from '../../base/noteables/reach-sql';
import { templateOf } from './composing/mail-templates';
import { TEXT_LIMIT } from './mailer/mail-text';
import { byIdSql } from './by-id-sql';
import { noteToldSql, recipientSql, wantedSql, wishesSql } from './recipient-sql';

const names = (key: string): string =>
  `array(select named.username from jsonb_array_elements_text(m.details -> '${key}') listed (user_id)
    join directory_users named on named.id = listed.user_id::bigint order by named.id)`;

const labelsSql = ({ parent }: NoteableKind): string =>
  `array(select l.title from jsonb_array_elements_text(m.details -> 'labels') listed (label_id)
    join labels l on l.id = listed.label_id::bigint
      and ${reachedSql('l', { project: parent === 'project' ? 'a.project_id' : null, above: 'a.traversal_ids' })}
    order by l.title)`;

const MEANT = { isMeant: `m.reason in ('assigned', 'mentioned', 'subscribed')`, isNamed: `m.reason = 'mentioned'` };

/** Rows `m`, and what each tells of. Shape: SQL. */
interface ToldSql {
  readonly from: string;
  readonly note: string;
  readonly actor: string;
}

const ROWS: ToldSql = {
  from: '(select m.* from mails m where m.id = any($1::bigint[]) offset 0) m',
  note: 'm.note_id',
  actor: 'm.actor_id',
};

/** One of the notes that a row tells of, which was its author's doing; or what the row tells of by itself. */
const actorSql = (note: string): string => `case when ${note} is null then m.actor_id else n.author_id end`;

/** $1 ids of rows, $2 beside each the note that is meant of several, or null. */
const WANTED: ToldSql = {
  from: `unnest($1::bigint[], $2::bigint[]) with ordinality as wanted (id, note_id, place) ${byIdSql('mails', 'm', 'wanted.id')}`,
  note: 'coalesce(wanted.note_id, m.note_id)',
  actor: actorSql('wanted.note_id'),
};

/** What may still be told of one kind to whom it was queued for. Shape: `place` is that among the ids, $1 and $2. */
export function dueSql(kind: NoteableKind): string {
  const column = (name: string | null, type: string): string => (name === null ? `null::${type}` : `i.${name}`);
  return `select m.id, m.source_event_id as event_id, m.recipient_id, m.template, m.reason, m.attempts, m.created_at,
     u.notification_email as address, actor.name as actor_name, actor.username as actor_username,
     ${parentSql(kind)} as parent_id, a.name as parent_name, a.full_path as parent_path, m.noteable_type, i.id as noteable_id,
     i.${kind.shownId} as shown_id, i.title, left(i.description, ${TEXT_LIMIT + 1}) as description, ${column(kind.stateColumn, 'text')} as state,
     ${column(kind.confidentialColumn, 'boolean')} as confidential, ${WANTED.note} as note_id, left(n.body, ${TEXT_LIMIT + 1}) as note_body,
     ${names('added')} as added, ${names('removed')} as removed, ${labelsSql(kind)} as labels, wanted.place
   ${stillDueSql(kind, WANTED)}`;
}

/** The e-mails of one kind that their recipients may get. Labels that do not count there any more are not told. */
export function stillDueSql(kind: NoteableKind, of = ROWS): string {
  const person = recipientSql(kind, { userId: 'm.recipient_id' });
  return `from ${of.from} ${byIdSql(kind.table, 'i', 'm.noteable_id', `and m.noteable_type = '${kind.type}'`)}
   ${byIdSql('notes', 'n', of.note, '', 'left join')}
   ${byIdSql('directory_users', 'actor', of.actor)}
   ${person.joins}
   where m.noteable_type = '${kind.type}' and ${person.where} and ${noteToldSql(of.note)}
     and ${labelsCountSql(kind)} and ${wantedSql(wishesSql(kind), MEANT)}`;
}

const labelsCountSql = (kind: NoteableKind): string =>
  `(m.template <> '${templateOf(kind, 'relabelled')}' or cardinality(${labelsSql(kind)}) > 0)`;

/**
 * What may still be told of one kind by e-mails of several. $1 their ids. Each is for one person and of one thing, which
 * are judged once, whatever it tells of; then each of that by what is its own.
 */
export function gatheredDueSql(kind: NoteableKind): string {
  const person = recipientSql(kind, { userId: 'g.recipient_id' });
  const { said, level } = wishesSql(kind);
  return `(with a as materialized (
     select g.id, g.source_event_id, g.template, g.recipient_id, g.attempts, g.created_at, u.notification_email,
       ${kind.parent === 'project' ? 'a.project_id, ' : ''}a.traversal_ids, a.reads_internal, ${said} as said, ${level} as level
     from (select g.* from mails g where g.id = any($1::bigint[]) offset 0) g
     ${byIdSql(kind.table, 'i', 'g.noteable_id', `and g.noteable_type = '${kind.type}'`)}
     ${person.joins}
     where g.noteable_type = '${kind.type}' and ${person.where})
   select m.id, one.note_id, coalesce(one.place, 0)::integer as place, a.id as gathered_into, m.reason, actor.id as actor_id,
     actor.name as actor_name, actor.username as actor_username, a.notification_email as address,
     a.source_event_id as event_id, a.template, a.recipient_id, a.attempts, a.created_at
   from a cross join lateral (
     select member.* from mails member where member.gathered_into = a.id and member.state = 'gathered'
     union all select self.* from mails self where self.id = a.id and self.note_ids is not null offset 0) m
   left join lateral unnest(m.note_ids) with ordinality as one (note_id, place) on true
   ${byIdSql('notes', 'n', 'coalesce(one.note_id, m.note_id)', '', 'left join')}
   ${byIdSql('directory_users', 'actor', actorSql('one.note_id'))}
   where ${noteToldSql('coalesce(one.note_id, m.note_id)')} and ${labelsCountSql(kind)}
     and ${wantedSql({ said: 'a.said', level: 'a.level' }, MEANT)})`;
}
