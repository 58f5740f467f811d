import { applicationSettings } from '@rookery/instance';
import { eventWorker, messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import { background } from '@rookery/testing';
import { migrations } from '../../src/database';
import { PackageModule } from '../../src/package.module';

background({
  service: 'package',
  module: PackageModule,
  settings: [databaseSettingsFor('package'), messagingSettings, applicationSettings],
  migrations,
  worker: eventWorker,
  everywhere: [
    'libs/directory/src/copy/identity-client.ts',
    'libs/instance/src/admin-client.ts',
    'libs/platform/src/waiting/follower.ts',
  ],
  inWorkers: ['libs/messaging/src/bus/broker.ts'],
});
