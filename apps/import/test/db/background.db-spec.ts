import { egressSettings } from '@rookery/egress';
import { gitSettings } from '@rookery/git';
import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { registerBackgroundWorkTests } from '@rookery/testing';
import { migrations } from '../../src/database';
import { importSettings } from '../../src/import.config';
import { ImportModule } from '../../src/import.module';

registerBackgroundWorkTests({
  service: 'import',
  module: ImportModule,
  settings: [
    databaseSettingsFor('import'),
    messagingSettings,
    jobSettings,
    egressSettings,
    gitSettings,
    importSettings,
  ],
  migrations,
  worker: withJobs(eventWorker),
  everywhere: ['libs/directory/src/copy/identity-client.ts', 'libs/platform/src/waiting/follower.ts'],
  inWorkers: ['graphile-worker', 'libs/jobs/src/job-watch.ts', 'libs/messaging/src/bus/broker.ts'],
});
