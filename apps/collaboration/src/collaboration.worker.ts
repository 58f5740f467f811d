import { withJobs } from '@rookery/jobs';
import { eventWorker } from '@rookery/messaging';
import type { WorkerStep } from '@rookery/platform';

/** Units: milliseconds. */
const MAIL_GRACE_MS = 5000;

/** The worker role: events and jobs as everywhere, and the mailer. */
export const collaborationWorker: WorkerStep = withJobs({
  ...eventWorker,
  async start(app, context) {
    // Imported here, so that the roles `migrate` and commands stay light.
    const { Mailer } = await import('./following/notifications/mailer/mailer');
    await eventWorker.start(app, context);
    const mailer = app.get(Mailer);
    mailer.start();
    context.shutdown.on('drain', 'mail', () => mailer.stop(MAIL_GRACE_MS));
  },
});
