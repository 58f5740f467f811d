import { eventWorker } from '@rookery/messaging';
import type { WorkerStep } from '@rookery/platform';

/** Units: milliseconds. */
const MAIL_GRACE_MS = 5000;

/** The worker role: events as everywhere, the mailer, and the dropping of what is old. */
export const collaborationWorker: WorkerStep = {
  ...eventWorker,
  async start(app, context) {
    // Imported here, so that the roles `migrate` and commands stay light.
    const [{ Mailer }, { Pruning }] = await Promise.all([
      import('./notifications/mailer'),
      import('./pruning/pruning'),
    ]);
    await eventWorker.start(app, context);
    const [mailer, pruning] = [app.get(Mailer), app.get(Pruning)];
    mailer.start();
    pruning.start();
    context.shutdown.on('drain', 'mail', async () => {
      await Promise.all([mailer.stop(MAIL_GRACE_MS), pruning.stop()]);
    });
  },
};
