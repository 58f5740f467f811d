import { makeViewer, registerTokenScopeTests } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let reader: Person;
beforeAll(async () => {
  identity = await startIdentity();
  reader = await identity.person('reader');
});
afterAll(() => identity.close());

registerTokenScopeTests({
  app: () => identity.app,
  viewer: () => makeViewer({ userId: reader.id, username: reader.username }),
  params: {
    'POST /api/v4/topics': { name: 'topic', title: 'Topic' },
    'POST /api/v4/topics/merge': { source_topic_id: 1, target_topic_id: 2 },
  },
});
