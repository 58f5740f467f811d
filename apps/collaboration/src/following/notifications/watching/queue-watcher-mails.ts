import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

/**
 * Queues e-mails for the users who watch a place beyond the first ones. `fan_out_id` is the id of a row of
 * `mail_fan_outs`.
 */
export const queueWatcherMails = defineJob('queue-watcher-mails', object({ fan_out_id: int }));
