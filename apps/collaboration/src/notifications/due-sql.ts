import { parentSql } from '../noteables/noteable-kinds';
import type { NoteableKind } from '../noteables/noteable-kinds';
import { reachedSql } from '../noteables/reach-sql';
import { templateOf } from './composing/mail-templates';
import { TEXT_LIMIT } from './mailer/mail-text';
import { recipientSql, wantedSql } from './recipient-sql';

const names = (key: string): string =>
  `array(select named.username from jsonb_array_elements_text(m.details -> '${key}') listed (user_id)
    join directory_users named on named.id = listed.user_id::bigint order by named.id)`;

const labelsSql = ({ parent }: NoteableKind): string =>
  `array(select l.title from jsonb_array_elements_text(m.details -> 'labels') listed (label_id)
    join labels l on l.id = listed.label_id::bigint
      and ${reachedSql('l', { project: parent === 'project' ? 'a.project_id' : null, above: 'a.traversal_ids' })}
    order by l.title)`;

/** What may still be told of one kind to whom it was queued for. */
export function dueSql(kind: NoteableKind): string {
  const column = (name: string | null, type: string): string => (name === null ? `null::${type}` : `i.${name}`);
  return `select m.id, m.source_event_id as event_id, m.recipient_id, m.template, m.reason, m.attempts, m.created_at,
     u.notification_email as address, actor.name as actor_name, actor.username as actor_username,
     ${parentSql(kind)} as parent_id, a.name as parent_name, a.full_path as parent_path, m.noteable_type, i.id as noteable_id,
     i.${kind.shownId} as shown_id, i.title, left(i.description, ${TEXT_LIMIT + 1}) as description, ${column(kind.stateColumn, 'text')} as state,
     ${column(kind.confidentialColumn, 'boolean')} as confidential, m.note_id, left(n.body, ${TEXT_LIMIT + 1}) as note_body,
     ${names('added')} as added, ${names('removed')} as removed, ${labelsSql(kind)} as labels
   ${stillDueSql(kind)}`;
}

/** The e-mails of one kind that their recipients may get. Labels that do not count there any more are not told. */
export function stillDueSql(kind: NoteableKind, of = { from: 'mails m', where: 'm.id = any($1::bigint[])' }): string {
  const person = recipientSql(kind, { userId: 'm.recipient_id', note: 'm.note_id' });
  return `from ${of.from} join ${kind.table} i on i.id = m.noteable_id left join notes n on n.id = m.note_id
   join directory_users actor on actor.id = m.actor_id
   ${person.joins}
   where ${of.where} and m.noteable_type = '${kind.type}' and ${person.where}
     and (m.template <> '${templateOf(kind, 'relabelled')}' or cardinality(${labelsSql(kind)}) > 0)
     and ${wantedSql(kind, { isMeant: `m.reason in ('assigned', 'mentioned', 'subscribed')`, isNamed: `m.reason = 'mentioned'` })}`;
}

const GATHERED = {
  from: 'mails m join mails g on g.id = m.gathered_into',
  where: `m.gathered_into = any($1::bigint[]) and m.state = 'gathered'`,
};

/** What may still be told of one kind by e-mails of several. $1 their ids. */
export function gatheredDueSql(kind: NoteableKind): string {
  return `select m.id, m.gathered_into, m.reason, m.actor_id, actor.name as actor_name, actor.username as actor_username,
     u.notification_email as address, g.source_event_id as event_id, g.template, g.recipient_id, g.attempts, g.created_at
   ${stillDueSql(kind, GATHERED)}`;
}
