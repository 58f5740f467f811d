import { prepared } from '@rookery/persistence';
import type { Prepared } from '@rookery/persistence';
import { chunkOf, oldestOf } from '../../base/noteables/traces';
import type { Traces } from '../../base/noteables/traces';

/** What e-mails and their settings hold of people. */
export const mailTraces: Traces = {
  own: [
    prepared(
      'traces_drop_participants',
      `delete from participants where ${chunkOf('participants', 'ctid', 'user_id = $1::bigint')} returning 1`,
    ),
    prepared(
      'traces_drop_mails',
      `delete from mails where ${chunkOf('mails', 'id', 'recipient_id = $1::bigint')} returning 1`,
    ),
    prepared(
      'traces_drop_account_mails',
      `delete from account_mails where ${chunkOf('account_mails', 'id', 'recipient_id = $1::bigint')} returning 1`,
    ),
    prepared(
      'traces_drop_notification_settings',
      `delete from notification_settings where ${chunkOf('notification_settings', 'ctid', 'user_id = $1::bigint')}
       returning 1`,
    ),
    prepared(
      'traces_drop_mail_allowances',
      `delete from mail_allowances where ${chunkOf('mail_allowances', 'recipient_id', 'recipient_id = $1::bigint')}
       returning 1`,
    ),
  ],
  // Only what waits still tells of them, by itself or in an e-mail of several.
  written: [
    prepared(
      'traces_hand_over_mails',
      `update mails set actor_id = $2::bigint
       where ${chunkOf('mails', 'id', `actor_id = $1::bigint and state in ('queued', 'gathered')`)} returning 1`,
    ),
  ],
};

const DONE = `p.state <> 'queued'
  and not exists (select 1 from mails g where g.id = p.gathered_into and g.state = 'queued')`;

/** Old e-mails still in the queue are few: they are given up after two days. What one of several tells of stays with it. */
export const oldMails: readonly Prepared[] = [
  prepared('mails_drop_oldest', `delete from mails where ${oldestOf('mails', DONE)} returning 1`),
  prepared(
    'account_mails_drop_oldest',
    `delete from account_mails where ${oldestOf('account_mails', `p.state <> 'queued'`)} returning 1`,
  ),
];
