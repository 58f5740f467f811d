import { accessSql, readableSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { saidSql } from '../../base/noteables/subscribed-sql';
import { byIdSql } from './by-id-sql';

/**
 * Joins and conditions under which a person may get e-mails about a thing: there and active, with a confirmed address,
 * reading it now, and nobody up to the root switched e-mails off. Asked when one is queued and again when it is sent.
 * Shape: the alias `i` (the thing) is given; makes `u` (the person) and `a` (their access). Source: reference
 * work-tracking 8.2, 8.3.
 */
export function recipientSql(kind: NoteableKind, o: { readonly userId: string }) {
  const access = accessSql(kind, { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' });
  return {
    joins: `${byIdSql('directory_users', 'u', o.userId, `and u.state = 'active' and u.kind = 'human' and u.notification_email is not null`)}
     join lateral ${access} a on a.emails_enabled`,
    where: `${readableSql(kind, 'a', 'u.id')} and not exists (select 1 from directory_namespaces above
       where above.id = any(a.traversal_ids) and not above.emails_enabled)`,
  };
}

/**
 * Boolean SQL: whether of a thing that may be told also its note may be, where it is a note that is told of. Shape: `note`
 * is the id that the alias `n` was joined by; `a` is the access.
 */
export function noteToldSql(note: string): string {
  return `(${note} is null or (n.id is not null and (not n.internal or a.reads_internal)))`;
}

/**
 * A text SQL expression: how much the person `u` wants to hear of the project or group of `a`. The project's own setting,
 * else that of the nearest group, else the general one. Source: reference work-tracking 8.1, 8.2.
 */
function levelSql({ parent }: NoteableKind): string {
  const ofProject = `(select nullif(s.level, 'global') from notification_settings s
        where s.user_id = u.id and s.source_type = 'project' and s.source_id = a.project_id),`;
  return `case when not exists (select 1 from notification_settings s where s.user_id = u.id)
    then 'participating' else coalesce(
      ${parent === 'project' ? ofProject : ''}
      (select s.level from unnest(a.traversal_ids) with ordinality as above (id, depth)
        join notification_settings s on s.user_id = u.id and s.source_type = 'namespace' and s.source_id = above.id
        where s.level <> 'global' order by above.depth desc limit 1),
      (select nullif(s.level, 'global') from notification_settings s
        where s.user_id = u.id and s.source_type = 'global'),
      'participating') end`;
}

/** What the person `u` said of following the thing `i`, and the level they have there. Shape: SQL expressions. */
export interface WishesSql {
  readonly said: string;
  readonly level: string;
}

export function wishesSql(kind: NoteableKind): WishesSql {
  return { said: saidSql(kind.type, 'i.id', 'u.id'), level: levelSql(kind) };
}

/**
 * Boolean SQL: does a person want to hear of it? Whoever asked to follow the thing does, whatever their level; whoever
 * asked not to does only where they are named. Shape: `isMeant`: mentioned, or the assignment is what is told.
 * Source: reference work-tracking 8.2, 9.7.
 */
export function wantedSql(
  { said, level }: WishesSql,
  o: { readonly isMeant: string; readonly isNamed: string },
): string {
  return `case ${said} when true then true when false then ${o.isNamed} else
    case ${level} when 'disabled' then false when 'mention' then ${o.isMeant} else true end end`;
}
