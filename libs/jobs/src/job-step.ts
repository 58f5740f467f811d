import type { WorkerStep } from '@rookery/platform';
import { platformSettings } from '@rookery/platform';
import { JobWorker } from './job-worker';

/**
 * Adds the jobs of a service to its worker role: `worker: withJobs(eventWorker)`. Jobs start after everything else.
 * They are finished or given back well within the grace period of a shutdown.
 */
export function withJobs(step: WorkerStep): WorkerStep {
  return {
    ...step,
    async start(app, context) {
      await step.start(app, context);
      const worker = app.get(JobWorker);
      context.shutdown.addStep('drain', 'jobs', () => worker.stop(context.settings(platformSettings).shutdownGraceMs));
      worker.start();
    },
  };
}
