import { prepared } from '@rookery/persistence';
import type { Prepared } from '@rookery/persistence';
import { oldestOf } from '../../base/noteables/oldest-rows';

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
