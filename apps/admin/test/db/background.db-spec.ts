import { egressSettings } from '@rookery/egress';
import { applicationSettings } from '@rookery/instance';
import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { registerBackgroundWorkTests } from '@rookery/testing';
import { migrations } from '../../src/database';
import { geoSettings } from '../../src/geo-sites/geo-sites.config';
import { AdminModule } from '../../src/admin.module';

registerBackgroundWorkTests({
  service: 'admin',
  module: AdminModule,
  settings: [
    databaseSettingsFor('admin'),
    messagingSettings,
    jobSettings,
    applicationSettings,
    egressSettings,
    geoSettings,
  ],
  migrations,
  worker: withJobs(eventWorker),
  everywhere: ['libs/directory/src/copy/identity-client.ts', 'libs/platform/src/waiting/follower.ts'],
  inWorkers: ['graphile-worker', 'libs/jobs/src/job-watch.ts', 'libs/messaging/src/bus/broker.ts'],
});
