import { parentAccessSql, canReadNoteableRowSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind, ReadableKind } from '../../base/noteables/noteable-kinds';
import { explicitSubscriptionSql } from '../../base/noteables/subscribed-sql';
import { effectiveNotificationSettingSql } from '../notification-settings/effective-setting-sql';
import { joinByIdSql } from './by-id-sql';
import { isMailTemplateSwitchOnSql, isWatchLevelTemplateSql } from './composing/mail-templates';

/**
 * Joins and conditions under which a user may get e-mails about a noteable: the user is active, has a confirmed address
 * and can read the noteable now, and e-mails are enabled in the project and all groups above it. Checked when an e-mail
 * is queued and again when it is sent. The alias `i` (the noteable) is given; defines `u` (the user) and `a` (their
 * access). Source: reference work-tracking 8.2, 8.3.
 */
export function noteableMailRecipientSql(kind: ReadableKind, o: { readonly userId: string }) {
  const access = parentAccessSql(kind, { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' });
  const { joins, where } = mailAddresseeSql({ userId: o.userId, access });
  return { joins, where: `${canReadNoteableRowSql(kind, 'a', 'u.id')} and ${where}` };
}

/**
 * Joins and conditions of a recipient that need no noteable. The user is active, human and has an address. E-mails are
 * enabled in the project or group and above. `access` is a lateral subquery over `u` with the access.
 */
export function mailAddresseeSql({ userId, access }: { readonly userId: string; readonly access: string }) {
  return {
    joins: `${joinByIdSql('directory_users', 'u', userId, `and u.state = 'active' and u.kind = 'human' and u.notification_email is not null`)}
     join lateral ${access} a on a.emails_enabled`,
    where: `not exists (select 1 from directory_namespaces above
       where above.id = any(a.traversal_ids) and not above.emails_enabled)`,
  };
}

/**
 * Boolean SQL: whether the recipient can read the note of an e-mail; true for an e-mail without a note. `note` is the
 * id by which the alias `n` was joined; `a` is the access.
 */
export function recipientReadsNoteSql(note: string): string {
  return `(${note} is null or (n.id is not null and (not n.internal or a.reads_internal)))`;
}

/**
 * Preferences of the user `u` for the noteable `i`, as SQL expressions. `subscribed` is null without an explicit
 * subscription or unsubscription. `isNear` is true for the setting of a group or project, and for the general setting
 * of a member. The levels `watch` and `custom` add e-mails only if `isNear` is true. The `joins` of `mailPreferenceSql`
 * follow the joins of the recipient.
 */
export interface PreferenceSql {
  readonly subscribed: string;
  readonly level: string;
  readonly switches: string;
  readonly isNear: string;
}

export function mailPreferenceSql(kind: NoteableKind): PreferenceSql & { readonly joins: string } {
  return {
    joins: effectiveNotificationSettingSql(kind),
    subscribed: explicitSubscriptionSql(kind.type, 'i.id', 'u.id'),
    level: 'setting.level',
    switches: 'setting.switches',
    isNear: '(setting.is_near or a.is_member)',
  };
}

/** Returns the preference expressions for a row with the columns of `mailPreferenceColumnsSql`. */
export function mailPreferenceSqlOfRow(row: string): PreferenceSql {
  return {
    subscribed: `${row}.subscribed`,
    level: `${row}.level`,
    switches: `${row}.switches`,
    isNear: `${row}.is_near`,
  };
}

/** A select list of preferences. */
export function mailPreferenceColumnsSql({ subscribed, level, switches, isNear }: PreferenceSql): string {
  return `${subscribed} as subscribed, ${level} as level, ${switches} as switches, ${isNear} as is_near`;
}

/**
 * Boolean SQL: whether the preferences of a user permit an e-mail. Subscribers get all e-mails at every level. Users
 * who unsubscribed get only mentions.
 * The fields of `o` are SQL expressions. `isOwn`: the user participates or the e-mail is addressed to them. `isMeant`:
 * the e-mail is addressed to them (mention, assignment, subscription). `isNamed`: the user is mentioned. `template`:
 * the stored template.
 * Source: reference work-tracking 8.2, 9.7.
 */
export function isMailWantedSql(
  kind: NoteableKind,
  { subscribed, level, switches, isNear }: PreferenceSql,
  o: { readonly isOwn: string; readonly isMeant: string; readonly isNamed: string; readonly template: string },
): string {
  return `case ${subscribed} when true then true when false then ${o.isNamed} else
    case ${level} when 'disabled' then false when 'mention' then ${o.isMeant} else ${o.isOwn} or (${isNear}
      and case ${level} when 'watch' then ${isWatchLevelTemplateSql(kind, o.template)}
        when 'custom' then ${isMailTemplateSwitchOnSql(kind, o.template, switches)} else false end) end end`;
}
