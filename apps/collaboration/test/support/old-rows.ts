import type { SeededService } from '@rookery/testing';
import { OldActivityJob } from '../../src/following/activity/old-activity.job';
import { OldMailsJob } from '../../src/following/notifications/old-mails.job';

/** Runs the jobs that delete old rows. Returns the number of deleted rows. */
export async function deleteOldRows({ app }: SeededService): Promise<number> {
  return (await app.get(OldActivityJob).run()) + (await app.get(OldMailsJob).run());
}
