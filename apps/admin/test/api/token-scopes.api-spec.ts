import type { Viewer } from '@rookery/kernel';
import { messagingSettings } from '@rookery/messaging';
import { databaseSettingsFor } from '@rookery/persistence';
import type { TestApp, TestDatabase } from '@rookery/testing';
import { DirectorySeed, startTestApp, testDatabase, tokenScopes } from '@rookery/testing';
import { migrations } from '../../src/database';
import { AdminModule } from '../../src/admin.module';

let database: TestDatabase;
let seed: DirectorySeed;
let app: TestApp;
let reader: Viewer;
beforeAll(async () => {
  database = await testDatabase('admin', migrations);
  seed = await DirectorySeed.open(database.url);
  reader = seed.viewer(await seed.user());
  app = await startTestApp({
    service: 'admin',
    module: AdminModule,
    settings: [databaseSettingsFor('admin'), messagingSettings],
    databaseUrl: database.url,
  });
});
afterAll(async () => {
  await app.close();
  await seed.close();
  await database.drop();
});

tokenScopes({ app: () => app, viewer: () => reader });
