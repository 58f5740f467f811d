import { isNotificationSwitchOn } from '../../notification-settings/notification-switches';
import { effectiveNotificationSettingSql } from '../../notification-settings/effective-setting-sql';
import { noteableMailRecipientSql } from '../recipient-sql';
import { PIPELINE_MAIL_TEMPLATES } from './compose-pipeline-mail';

/** Pipelines name commits, so they are readable by those who may read the code. Source: reference identity-and-import 7.3. */
const READ_LIKE_CODE = { parent: 'project', feature: 'code', visibleSql: () => 'true' } as const;

const ON = PIPELINE_MAIL_TEMPLATES.filter((name) => isNotificationSwitchOn({}, name))
  .map((name) => `'${name}'`)
  .join(', ');

/**
 * FROM and WHERE of the e-mails `i` about pipelines that their recipients may get and want. `from` has the columns
 * `project_id`, `pipeline_id`, `recipient_id` and `template` and defines the alias `i`. `u` is the recipient, `a` their
 * access. A level that includes own activity gets the e-mails that are on by default. E-mails about successes need
 * their switch.
 * Source: reference work-tracking 8.2, 8.4.
 */
export function wantedPipelineMailsSql(from: string): string {
  const recipient = noteableMailRecipientSql(READ_LIKE_CODE, { userId: 'i.recipient_id' });
  const isOnByDefault = `i.template in (${ON})`;
  return `from ${from} ${recipient.joins}
   ${effectiveNotificationSettingSql(READ_LIKE_CODE)}
   where ${recipient.where}
     and not exists (select 1 from ci_pipelines c where c.id = i.pipeline_id and c.is_deleted)
     and case setting.level when 'disabled' then false when 'mention' then false
       when 'custom' then coalesce((setting.switches ->> i.template)::boolean, ${isOnByDefault})
       else ${isOnByDefault} end`;
}
