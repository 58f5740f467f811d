import type { SeededService } from '@rookery/testing';
import { OldActivityJob } from '../../src/following/activity/old-activity.job';
import { OldMailsJob } from '../../src/following/notifications/old-mails.job';

/** Runs the jobs that drop what is old. Answers how many rows went. */
export async function dropOld({ app }: SeededService): Promise<number> {
  return (await app.get(OldActivityJob).run()) + (await app.get(OldMailsJob).run());
}
