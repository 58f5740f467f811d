import { groupAccessRowSql, projectAccessRowSql } from '../../../base/noteables/access-sql';
import { effectiveNotificationSettingSql } from '../../notification-settings/effective-setting-sql';
import { isNotificationSwitchOn } from '../../notification-settings/notification-switches';
import { accessRequestReceiversSql } from '../../todos/access-request-receivers';
import { joinByIdSql } from '../by-id-sql';
import { mailAddresseeSql } from '../recipient-sql';
import type { ProjectOrGroupMailTemplate } from './place-mail-templates';

type ParentType = 'project' | 'group';
const PERSON = { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' };

/**
 * FROM and WHERE of the e-mails `i` about places that their recipients may get and want. `from` has the columns
 * `project_id`, `group_id`, `recipient_id`, `template`, `actor_id`, `subject_id` and `source_event_id`, and defines the
 * alias `i`; `u` is the recipient, `a` their access, `release`, `requester` and `m` (the membership) are the facts of
 * the texts. Source: reference work-tracking 8.2, 8.4, 8.9.
 */
export function wantedProjectOrGroupMailsSql(parent: ParentType, from: string): string {
  const access =
    parent === 'project' ? projectAccessRowSql('i.project_id', PERSON) : groupAccessRowSql('i.group_id', PERSON, 'any');
  const addressee = mailAddresseeSql({ userId: 'i.recipient_id', access });
  return `from ${from} ${addressee.joins}
   ${effectiveNotificationSettingSql({ parent })}
   ${joinByIdSql('directory_users', 'actor', 'i.actor_id', '', 'left join')}
   ${joinByIdSql('directory_users', 'requester', 'i.subject_id', `and i.template = 'access_requested' and requester.state = 'active'`, 'left join')}
   ${joinByIdSql('releases', 'release', 'i.subject_id', `and i.template = 'new_release' and release.project_id = i.project_id`, 'left join')}
   left join lateral (select m.access_level, m.expires_on from directory_memberships m
     where m.user_id = i.recipient_id and m.source_type = '${parent === 'project' ? 'project' : 'namespace'}'
       and m.source_id = i.${parent}_id and ${isCurrentMembershipSql('m')}) m on true
   where i.${parent}_id is not null and ${addressee.where} and setting.level is distinct from 'disabled'
     and case i.template ${Object.entries(WANTED)
       .map(([template, wanted]) => `when '${template}' then ${wanted(parent)}`)
       .join('\n       ')} end`;
}

/** Conditions of each template, which hold when an e-mail is queued and again when it is sent. */
const WANTED: Readonly<Record<ProjectOrGroupMailTemplate, (parent: ParentType) => string>> = {
  new_release: (parent) =>
    parent === 'group'
      ? 'false'
      : `release.id is not null and setting.level = 'custom' and (setting.is_near or a.is_member)
         and coalesce((setting.switches ->> 'new_release')::boolean, ${isNotificationSwitchOn({}, 'new_release')}) and ${hasRepositorySql}`,
  moved_project: () => `a.is_member and (setting.level is distinct from 'custom'
         or coalesce((setting.switches ->> 'moved_project')::boolean, ${isNotificationSwitchOn({}, 'moved_project')}))`,
  member_added: () => 'm.access_level is not null',
  member_changed: () => 'm.access_level is not null',
  // A recipient who has completed the to-do has seen the request, or it was settled. The user may have asked again since.
  access_requested: (parent) => `requester.id is not null and exists (
         select 1 from directory_namespaces home ${parent === 'project' ? 'join directory_projects p on p.id = i.project_id and p.namespace_id = home.id' : 'left join directory_projects p on false'}
         cross join lateral ${accessRequestReceiversSql('i.subject_id')} receiver
         where ${parent === 'project' ? 'true' : 'home.id = i.group_id'} and receiver.user_id = u.id)
         and (not exists (select 1 from todos t where t.source_event_id = i.source_event_id and t.user_id = u.id
             and t.state = 'done')
           or exists (select 1 from todos t where t.user_id = u.id and t.state = 'pending' and t.author_id = i.subject_id
             and t.action = 'member_access_requested' and t.target_type = '${parent === 'project' ? 'Project' : 'Namespace'}'
             and t.target_id = i.${parent}_id))`,
  access_denied: () => 'not a.is_member',
};

/** Boolean SQL: is the membership not expired? `alias` is an SQL alias. */
const isCurrentMembershipSql = (alias: string): string =>
  `(${alias}.expires_on is null or ${alias}.expires_on > (statement_timestamp() at time zone 'UTC')::date)`;

/** Boolean SQL: has the project a repository for the person? Releases need it. Source: reference repositories 7.2. */
const hasRepositorySql = `exists (select 1 from directory_projects code where code.id = i.project_id
         and (coalesce(code.repository_access_level, 'enabled') = 'enabled'
           or (code.repository_access_level = 'private' and a.is_member)))`;
