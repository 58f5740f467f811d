import { defineSettings, setting } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';

export const jobSettings = defineSettings('jobs', {
  concurrency: setting.int('JOBS_CONCURRENCY_COUNT', {
    default: 3,
    min: 1,
    max: 50,
    about:
      'Jobs that a worker runs at once; each takes connections from DATABASE_BACKGROUND_POOL_COUNT as it needs them.',
  }),
  connections: setting.int('JOBS_CONNECTIONS_COUNT', {
    default: 3,
    min: 2,
    max: 51,
    about:
      'Connections that a worker keeps for its queue of jobs, beside those of the database settings; one of them listens. As many as JOBS_CONCURRENCY_COUNT are enough.',
  }),
  pollMs: setting.int('JOBS_POLL_MS', {
    default: 10_000,
    min: 50,
    about: 'How often a worker looks for jobs that have become due; new ones wake it at once.',
  }),
  watchMs: setting.int('JOBS_WATCH_MS', {
    default: 2000,
    min: 50,
    about:
      'How often a worker says that it lives, and looks for cancelled jobs and for dead ones to replay; while it runs none, five times as seldom.',
  }),
  lostAfterMs: setting.int('JOBS_LOST_AFTER_MS', {
    default: 30_000,
    min: 500,
    about:
      'A worker that was not heard of for so long is gone, and its jobs go to others; far more than JOBS_WATCH_MS.',
  }),
  retentionDays: setting.int('JOBS_RETENTION_DAYS', {
    default: 7,
    min: 1,
    max: 3650,
    about: 'How long it is kept how a job ended.',
  }),
});
export type JobSettings = SettingsOf<typeof jobSettings>;
