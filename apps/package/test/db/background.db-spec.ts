import { eventWorker, messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { background } from '@rookery/testing';
import { packageSettings } from '../../src/package.config';
import { migrations } from '../../src/database';
import { PackageModule } from '../../src/package.module';

background({
  service: 'package',
  module: PackageModule,
  settings: [databaseSettingsFor('package'), messagingSettings, packageSettings],
  migrations,
  worker: eventWorker,
  everywhere: ['libs/directory/src/applier-loop.ts', 'libs/directory/src/identity-client.ts'],
  inWorkers: ['libs/messaging/src/broker.ts'],
});
