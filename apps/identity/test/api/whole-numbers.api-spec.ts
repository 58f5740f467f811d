import { makeViewer, registerNumberLimitTests } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp } from '../support/app';

let identity: IdentityApp;
let ids: Readonly<Record<string, number>>;
beforeAll(async () => {
  identity = await startIdentity();
  const { root } = identity;
  const { body: group } = await root.post('/api/v4/groups').send({ name: 'Nest', path: 'nest' }).expect(201);
  const { body: project } = await root.post('/api/v4/projects').send({ name: 'Egg' }).expect(201);
  ids = { groups: group.id, projects: project.id, user: (await identity.person('ada')).id };
});
afterAll(() => identity.close());

registerNumberLimitTests({
  app: () => identity.app,
  viewer: () => makeViewer({ userId: 1, username: 'root', isAdmin: true }),
  ids: () => ids,
  params: {
    'POST /api/v4/groups': (serial) => ({ name: `Nest ${serial}`, path: `nest-${serial}` }),
    'POST /api/v4/groups/:id/members': () => ({ access_level: 10 }),
    'POST /api/v4/groups/:id/share': () => ({ group_access: 10 }),
    'POST /api/v4/personal_access_tokens': () => ({ name: 'token', scopes: ['api'] }),
    'POST /api/v4/projects': (serial) => ({ name: `Egg ${serial}` }),
    'POST /api/v4/projects/:id/fork': (serial) => ({ path: `egg-${serial}` }),
    'POST /api/v4/projects/:id/members': () => ({ access_level: 10 }),
    'POST /api/v4/projects/:id/share': () => ({ group_access: 10 }),
    'POST /api/v4/projects/user/:user_id': (serial) => ({ name: `Egg ${serial}` }),
    'POST /api/v4/topics': (serial) => ({ name: `topic-${serial}`, title: 'Topic' }),
    'POST /api/v4/topics/merge': () => ({ source_topic_id: 1, target_topic_id: 2 }),
    'POST /api/v4/users': (serial) => ({
      username: `wren-${serial}`,
      name: 'Wren',
      email: `wren-${serial}@example.org`,
      password: 'correct horse',
    }),
  },
});
