import { blobsSettings } from '@rookery/blobs';
import { applicationSettings } from '@rookery/instance';
import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { registerBackgroundWorkTests } from '@rookery/testing';
import { migrations } from '../../src/database';
import { packageSettings } from '../../src/package.config';
import { PackageModule } from '../../src/package.module';

registerBackgroundWorkTests({
  service: 'package',
  module: PackageModule,
  settings: [
    databaseSettingsFor('package'),
    messagingSettings,
    jobSettings,
    applicationSettings,
    blobsSettings,
    packageSettings,
  ],
  migrations,
  env: { BLOBS_URL: '/nowhere' },
  worker: withJobs(eventWorker),
  everywhere: [
    'libs/directory/src/copy/identity-client.ts',
    'libs/instance/src/admin-client.ts',
    'libs/platform/src/waiting/follower.ts',
  ],
  inWorkers: ['graphile-worker', 'libs/jobs/src/job-watch.ts', 'libs/messaging/src/bus/broker.ts'],
});
