import { parentIdColumnSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { labelOrMilestoneAppliesSql } from '../../base/noteables/reach-sql';
import { storedTemplate } from './composing/mail-templates';
import { TEXT_LIMIT } from './mailer/mail-text';
import { joinByIdSql } from './by-id-sql';
import {
  mailPreferenceColumnsSql,
  mailPreferenceSqlOfRow,
  mailPreferenceSql,
  recipientReadsNoteSql,
  noteableMailRecipientSql,
  isMailWantedSql,
} from './recipient-sql';

const usernamesOfMessageDetailSql = (detail: string): string =>
  `array(select named.username from jsonb_array_elements_text(m.details -> '${detail}') listed (user_id)
    join directory_users named on named.id = listed.user_id::bigint order by named.id)`;

const messageLabelTitlesSql = ({ parent }: NoteableKind): string =>
  `array(select l.title from jsonb_array_elements_text(m.details -> 'labels') listed (label_id)
    join labels l on l.id = listed.label_id::bigint
      and ${labelOrMilestoneAppliesSql('l', { project: parent === 'project' ? 'a.project_id' : null, above: 'a.traversal_ids' })}
    order by l.title)`;

/** Title of the milestone that was set on a noteable, if it still exists and applies to the project or group. */
const messageMilestoneTitleSql = ({ parent }: NoteableKind): string =>
  `(select l.title from milestones l where l.id = (m.details ->> 'milestone')::bigint
      and ${labelOrMilestoneAppliesSql('l', { project: parent === 'project' ? 'a.project_id' : null, above: 'a.traversal_ids' })})`;

/** Facts of the row `m` for `isMailWantedSql`. Former assignees and reviewers are addressed as well. */
const ROW = {
  isOwn: 'not m.is_watching',
  isMeant: `(coalesce(m.reason in ('assigned', 'review_requested', 'mentioned', 'subscribed'), false)
    or coalesce(m.details -> 'removed' @> to_jsonb(m.recipient_id), false))`,
  isNamed: `coalesce(m.reason = 'mentioned', false)`,
  template: 'm.template',
};

/** SQL for the messages of a statement: a FROM item with rows `m` of the queue, and the note and the actor of each. */
interface MessageSql {
  readonly from: string;
  readonly note: string;
  readonly actor: string;
}

const ROWS: MessageSql = {
  from: '(select m.* from mails m where m.id = any($1::bigint[]) offset 0) m',
  note: 'm.note_id',
  actor: 'm.actor_id',
};

/** The actor of a message: the author of one of several notes, else the actor of the row. */
const messageActorIdSql = (note: string): string => `case when ${note} is null then m.actor_id else n.author_id end`;

/** $1 ids of rows, $2 for each the note to select if the row covers several, or null. */
const WANTED: MessageSql = {
  from: `unnest($1::bigint[], $2::bigint[]) with ordinality as wanted (id, note_id, place) ${joinByIdSql('mails', 'm', 'wanted.id')}`,
  note: 'coalesce(wanted.note_id, m.note_id)',
  actor: messageActorIdSql('wanted.note_id'),
};

/**
 * Selects the due e-mails of one kind with all facts of their texts. The column `place` is the position in $1 and $2.
 */
export function selectSendableNoteableMailsSql(kind: NoteableKind): string {
  const column = (name: string | null, type: string): string => (name === null ? `null::${type}` : `i.${name}`);
  return `select m.id, m.source_event_id as event_id, m.recipient_id, m.template, m.reason, m.is_watching, m.attempts, m.created_at,
     u.notification_email as address, actor.name as actor_name, actor.username as actor_username,
     ${parentIdColumnSql(kind)} as parent_id, a.name as parent_name, a.full_path as parent_path, m.noteable_type, i.id as noteable_id,
     i.${kind.shownId}::text as shown_id, i.title, left(i.description, ${TEXT_LIMIT + 1}) as description, ${column(kind.stateColumn, 'text')} as state,
     ${column(kind.confidentialColumn, 'boolean')} as confidential, ${WANTED.note} as note_id, left(n.body, ${TEXT_LIMIT + 1}) as note_body,
     ${usernamesOfMessageDetailSql('added')} as added, ${usernamesOfMessageDetailSql('removed')} as removed, ${messageLabelTitlesSql(kind)} as labels, ${messageMilestoneTitleSql(kind)} as milestone,
     (m.details ->> 'commits')::integer as commits, ${kind.dueColumn === undefined ? 'null' : `i.${kind.dueColumn}`}::text as due_on, wanted.place
   ${sendableMailsSql(kind, WANTED)}`;
}

/**
 * The `from` and `where` of the e-mails of one kind that are still due. An e-mail is not due if its labels or its milestone
 * no longer exist, or if it is about a day on which the noteable is no longer due.
 */
export function sendableMailsSql(kind: NoteableKind, of = ROWS): string {
  const recipient = noteableMailRecipientSql(kind, { userId: 'm.recipient_id' });
  const preference = mailPreferenceSql(kind);
  return `from ${of.from} ${joinByIdSql(kind.table, 'i', 'm.noteable_id', `and m.noteable_type = '${kind.type}'`)}
   ${joinByIdSql('notes', 'n', of.note, '', 'left join')}
   ${joinByIdSql('directory_users', 'actor', of.actor)}
   ${recipient.joins}
   ${preference.joins}
   where m.noteable_type = '${kind.type}' and ${recipient.where} and ${recipientReadsNoteSql(of.note)}
     and ${areMailFactsStillTrueSql(kind, 'i')} and ${isMailWantedSql(kind, preference, ROW)}`;
}

/**
 * Boolean SQL: whether the facts of a message still hold. Its labels or its milestone must apply to the noteable. For a
 * message about a due date, the noteable must be open and due on that day. `row` is an alias with the columns of the
 * noteable.
 */
const areMailFactsStillTrueSql = (kind: NoteableKind, row: string): string =>
  `(m.template <> '${storedTemplate(kind, 'relabelled')}' or cardinality(${messageLabelTitlesSql(kind)}) > 0)
     and (m.template <> '${storedTemplate(kind, 'milestoned')}' or m.details ->> 'milestone' is null
       or ${messageMilestoneTitleSql(kind)} is not null)${
         kind.dueColumn === undefined
           ? ''
           : `
     and (m.template <> '${storedTemplate(kind, 'due')}' or (${row}.${kind.stateColumn} = 'opened'
       and ${row}.${kind.dueColumn}::text = m.details ->> 'due_on'))`
       }`;

/**
 * Selects the due messages of combined e-mails of one kind. $1 ids of the combined e-mails. Each is for one recipient and
 * one noteable, which are checked once; then each message is checked by its own facts.
 */
export function selectSendableMessagesOfCombinedMailsSql(kind: NoteableKind): string {
  const recipient = noteableMailRecipientSql(kind, { userId: 'g.recipient_id' });
  const preference = mailPreferenceSql(kind);
  return `(with a as materialized (
     select g.id, g.source_event_id, g.template, g.recipient_id, g.attempts, g.created_at, u.notification_email,
       ${kind.parent === 'project' ? 'a.project_id, ' : ''}${kind.dueColumn === undefined ? '' : `i.${kind.stateColumn}, i.${kind.dueColumn}, `}a.traversal_ids, a.reads_internal, ${mailPreferenceColumnsSql(preference)}
     from (select g.* from mails g where g.id = any($1::bigint[]) offset 0) g
     ${joinByIdSql(kind.table, 'i', 'g.noteable_id', `and g.noteable_type = '${kind.type}'`)}
     ${recipient.joins}
     ${preference.joins}
     where g.noteable_type = '${kind.type}' and ${recipient.where})
   select m.id, one.note_id, coalesce(one.place, 0)::integer as place, a.id as gathered_into, m.reason, m.is_watching, actor.id as actor_id,
     actor.name as actor_name, actor.username as actor_username, a.notification_email as address,
     a.source_event_id as event_id, a.template, a.recipient_id, a.attempts, a.created_at
   from a cross join lateral (
     select member.* from mails member where member.gathered_into = a.id and member.state = 'gathered'
     union all select self.* from mails self where self.id = a.id and self.note_ids is not null offset 0) m
   left join lateral unnest(m.note_ids) with ordinality as one (note_id, place) on true
   ${joinByIdSql('notes', 'n', 'coalesce(one.note_id, m.note_id)', '', 'left join')}
   ${joinByIdSql('directory_users', 'actor', messageActorIdSql('one.note_id'))}
   where ${recipientReadsNoteSql('coalesce(one.note_id, m.note_id)')} and ${areMailFactsStillTrueSql(kind, 'a')}
     and ${isMailWantedSql(kind, mailPreferenceSqlOfRow('a'), ROW)})`;
}
