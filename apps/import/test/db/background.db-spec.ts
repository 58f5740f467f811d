import { eventWorker, messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { background } from '@rookery/testing';
import { migrations } from '../../src/database';
import { ImportModule } from '../../src/import.module';

background({
  service: 'import',
  module: ImportModule,
  settings: [databaseSettingsFor('import'), messagingSettings],
  migrations,
  worker: eventWorker,
  everywhere: ['libs/directory/src/copy/identity-client.ts', 'libs/platform/src/waiting/follower.ts'],
  inWorkers: ['libs/messaging/src/bus/broker.ts'],
});
