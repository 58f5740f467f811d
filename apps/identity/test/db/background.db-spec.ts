import { jobSettings, withJobs } from '@rookery/jobs';
import { eventWorker, messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { background } from '@rookery/testing';
import { bootstrapSettings } from '../../src/bootstrap/bootstrap.config';
import { migrations } from '../../src/database';
import { identitySettings } from '../../src/identity.config';
import { IdentityModule } from '../../src/identity.module';

background({
  service: 'identity',
  module: IdentityModule,
  settings: [databaseSettingsFor('identity'), messagingSettings, jobSettings, identitySettings, bootstrapSettings],
  migrations,
  worker: withJobs(eventWorker),
  inWorkers: ['graphile-worker', 'libs/jobs/src/job-watch.ts', 'libs/messaging/src/broker.ts'],
});
