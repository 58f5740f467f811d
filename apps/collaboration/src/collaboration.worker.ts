import { eventWorker } from '@rookery/messaging';
import type { WorkerStep } from '@rookery/platform';

/** Units: milliseconds. */
const MAIL_GRACE_MS = 5000;

/** The worker role: events as everywhere, the mailer, the dropping of what is old, and traces of the removed. */
export const collaborationWorker: WorkerStep = {
  ...eventWorker,
  async start(app, context) {
    // Imported here, so that the roles `migrate` and commands stay light.
    const [{ Mailer }, { Pruning }, { Departures }] = await Promise.all([
      import('./mailer/mailer'),
      import('./pruning/pruning'),
      import('./departures/departures'),
    ]);
    await eventWorker.start(app, context);
    const [mailer, pruning, departures] = [app.get(Mailer), app.get(Pruning), app.get(Departures)];
    mailer.start();
    pruning.start();
    departures.start();
    context.shutdown.on('drain', 'mail', async () => {
      await Promise.all([mailer.stop(MAIL_GRACE_MS), pruning.stop(), departures.stop()]);
    });
  },
};
