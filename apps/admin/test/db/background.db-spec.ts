import { applicationSettings } from '@rookery/instance';
import { eventWorker, messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { background } from '@rookery/testing';
import { migrations } from '../../src/database';
import { AdminModule } from '../../src/admin.module';

background({
  service: 'admin',
  module: AdminModule,
  settings: [databaseSettingsFor('admin'), messagingSettings, applicationSettings],
  migrations,
  worker: eventWorker,
  everywhere: ['libs/directory/src/identity-client.ts', 'libs/platform/src/follower.ts'],
  inWorkers: ['libs/messaging/src/broker.ts'],
});
