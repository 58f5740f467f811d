import { call, estate, person, projectOf } from '../support/estate';
import type { Answer, Person } from '../support/estate';

let owner: Person;
let stranger: Person;
let project: { readonly id: number; readonly path: string };
let former: string;

const api = `${estate.baseUrl}/api/v4`;
const at = (path: string, who = owner, method = 'GET', json?: object): Promise<Answer> =>
  call(method, `/projects/${former}${path}`, { token: who.token, ...(json ? { json } : {}) });

beforeAll(async () => {
  owner = await person('former-owner');
  stranger = await person('former-stranger');
  project = await projectOf(owner, 'before');
  former = encodeURIComponent(project.path);
  await call('PUT', `/projects/${project.id}`, { token: owner.token, json: { path: `after-${project.id}` } });
});

test.each([
  ['issues of collaboration', '/issues?state=opened&labels=a%20b'],
  ['packages', '/packages?package_type=npm'],
  ['a package file', '/packages/generic/tool/1.0/file.bin'],
  ['a registry of packages', '/packages/npm/left-pad'],
  ['members of identity', '/members?query=x'],
  ['feature flags of administration', '/feature_flags'],
])('a former path redirects reads of %s, for callers who see the project', async (_, path) => {
  const moved = await at(path);
  expect([moved.status, moved.headers.get('location')]).toEqual([301, `${api}/projects/${project.id}${path}`]);
  expect((await at(path, stranger)).status).toBe(404);
});

test('a former path takes no writes', async () => {
  const refused = [405, { message: 'Non GET methods are not allowed for moved projects' }];
  const written = await at('/issues', owner, 'POST', { title: 'x' });
  expect([written.status, written.body]).toEqual(refused);
  const deleted = await at('/packages/1', owner, 'DELETE');
  expect([deleted.status, deleted.body]).toEqual(refused);
  expect((await at('/issues', stranger, 'POST', { title: 'x' })).status).toBe(404);
});
