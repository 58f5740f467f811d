import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const jobSettings = defineSettings('jobs', {
  concurrency: setting.int('JOBS_CONCURRENCY_COUNT', {
    default: 3,
    min: 1,
    max: 50,
    about:
      'Jobs that a worker runs at the same time; each takes connections from DATABASE_BACKGROUND_POOL_COUNT as needed.',
  }),
  connections: setting.int('JOBS_CONNECTIONS_COUNT', {
    default: 3,
    min: 2,
    max: 51,
    about:
      'Connections that a worker keeps for its job queue, in addition to those of the database settings; one of them listens. As many as JOBS_CONCURRENCY_COUNT are enough.',
  }),
  pollMs: setting.int('JOBS_POLL_MS', {
    default: 10_000,
    min: 50,
    about: 'Interval at which a worker polls for jobs that have become due; new jobs wake it at once.',
  }),
  watchMs: setting.int('JOBS_WATCH_MS', {
    default: 2000,
    min: 50,
    about:
      'Interval at which a worker sends its heartbeat and looks for cancelled jobs and dead jobs to replay; five times as long while it runs no job.',
  }),
  lostAfterMs: setting.int('JOBS_LOST_AFTER_MS', {
    default: 30_000,
    min: 500,
    about:
      'A worker without a heartbeat for this long is considered lost, and its jobs go to other workers; must be much longer than JOBS_WATCH_MS.',
  }),
  retentionDays: setting.int('JOBS_RETENTION_DAYS', {
    default: 7,
    min: 1,
    max: 3650,
    about: 'Days that the record of an ended job is kept.',
  }),
});
export type JobSettings = SettingsOf<typeof jobSettings>;
