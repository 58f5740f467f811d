import { jobSettings } from '@rookery/jobs';
import { messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { registerBackgroundWorkTests } from '@rookery/testing';
import { collaborationSettings } from '../../src/collaboration.config';
import { CollaborationModule } from '../../src/collaboration.module';
import { collaborationWorker } from '../../src/collaboration.worker';
import { migrations } from '../../src/database';

registerBackgroundWorkTests({
  service: 'collaboration',
  module: CollaborationModule,
  settings: [databaseSettingsFor('collaboration'), messagingSettings, jobSettings, ...collaborationSettings],
  migrations,
  worker: collaborationWorker,
  everywhere: [
    'libs/directory/src/copy/identity-client.ts',
    'libs/instance/src/admin-client.ts',
    'libs/platform/src/waiting/follower.ts',
  ],
  inWorkers: [
    'graphile-worker',
    'libs/jobs/src/job-watch.ts',
    'apps/collaboration/src/following/notifications/mailer/mailer.ts',
    'libs/messaging/src/bus/broker.ts',
  ],
});
