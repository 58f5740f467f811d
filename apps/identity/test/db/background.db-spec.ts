import { applicationSettings } from '@rookery/instance';
import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { registerBackgroundWorkTests } from '@rookery/testing';
import { bootstrapSettings } from '../../src/bootstrap/bootstrap.config';
import { migrations } from '../../src/database';
import { identitySettings } from '../../src/identity.config';
import { IdentityModule } from '../../src/identity.module';

registerBackgroundWorkTests({
  service: 'identity',
  module: IdentityModule,
  settings: [
    databaseSettingsFor('identity'),
    messagingSettings,
    jobSettings,
    applicationSettings,
    identitySettings,
    bootstrapSettings,
  ],
  migrations,
  worker: withJobs(eventWorker),
  everywhere: [
    'libs/instance/src/admin-client.ts',
    'libs/platform/src/waiting/follower.ts',
    'apps/identity/src/directory/history/history-watch.ts',
  ],
  inWorkers: ['graphile-worker', 'libs/jobs/src/job-watch.ts', 'libs/messaging/src/bus/broker.ts'],
});
