import { withJobs } from '@rookery/jobs';
import { eventWorker } from '@rookery/messaging';
import type { WorkerStep } from '@rookery/platform';

/** Units: milliseconds. */
const MAIL_GRACE_MS = 5000;

/** The worker role: events and jobs as in every service, and the mailer. */
export const collaborationWorker: WorkerStep = withJobs({
  ...eventWorker,
  async start(app, context) {
    // Imported here, so that `migrate` and commands do not load it.
    const { Mailer } = await import('./following/notifications/mailer/mailer');
    await eventWorker.start(app, context);
    const mailer = app.get(Mailer);
    mailer.start();
    context.shutdown.addStep('drain', 'mail', () => mailer.stop(MAIL_GRACE_MS));
  },
});
