import { prepareStatement } from '@rookery/persistence';
import type { PreparedStatement } from '@rookery/persistence';
import { oldestExpiredRowsSql } from '../../base/noteables/expired-rows';

const DONE = `p.state <> 'queued'
  and not exists (select 1 from mails g where g.id = p.gathered_into and g.state = 'queued')`;

/**
 * Statements that delete old e-mails. Queued ones stay: old ones are few, since they are given up after two days. Rows of a
 * combined e-mail stay as long as it is queued.
 */
export const oldMails: readonly PreparedStatement[] = [
  prepareStatement('mails_drop_oldest', `delete from mails where ${oldestExpiredRowsSql('mails', DONE)} returning 1`),
  prepareStatement(
    'account_mails_drop_oldest',
    `delete from account_mails where ${oldestExpiredRowsSql('account_mails', `p.state <> 'queued'`)} returning 1`,
  ),
  prepareStatement(
    'pipeline_mails_drop_oldest',
    `delete from pipeline_mails where ${oldestExpiredRowsSql('pipeline_mails', `p.state <> 'queued'`)} returning 1`,
  ),
  prepareStatement(
    'place_mails_drop_oldest',
    `delete from place_mails where ${oldestExpiredRowsSql('place_mails', `p.state <> 'queued'`)} returning 1`,
  ),
];
