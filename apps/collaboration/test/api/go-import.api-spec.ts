import type { SeededService, SeededUser } from '@rookery/testing';
import type { Response } from 'supertest';
import { startCollaboration } from '../support/app';

let service: SeededService;
let member: SeededUser;
let stranger: SeededUser;
let path: string;

beforeAll(async () => {
  service = await startCollaboration({ ROOKERY_EXTERNAL_URL: 'https://rookery.example/base' });
  [member, stranger] = [await service.seed.user(), await service.seed.user()];
  const group = await service.seed.group({ visibility: 'private' });
  const inner = await service.seed.group({ visibility: 'private', parent_id: group.id });
  const project = await service.seed.project({ namespace_id: inner.id, visibility: 'private' });
  await service.seed.member(member, project, 'developer');
  path = `${inner.full_path}/${project.path}`;
});
afterAll(() => service.close());

const ask = (who: SeededUser | null, importPath: string): Promise<Response> =>
  service.app
    .as(who === null ? service.seed.anonymous() : service.seed.viewer(who))
    .get(`/-/go-get/${importPath}`)
    .query({ 'go-get': '1' });
const importOf = (of: string): string =>
  `<html><head><meta name="go-import" content="rookery.example/base/${of} git https://rookery.example/base/${of}.git"></head></html>\n`;

it('names the project of a package and of a folder in it', async () => {
  for (const importPath of [path, `${path}/internal/parser`, path.toUpperCase()]) {
    const { status, text, headers } = await ask(member, importPath);
    expect([status, text, headers['content-type']]).toEqual([200, importOf(path), 'text/html; charset=utf-8']);
  }
});

it('tells anonymous callers nothing about a hidden project, and signed-in callers that there is none', async () => {
  const hidden = await ask(null, `${path}/package`);
  const missing = await ask(null, 'no/such/project/package');
  expect([hidden.status, hidden.text]).toEqual([200, importOf(path.split('/').slice(0, 2).join('/'))]);
  expect([missing.status, missing.text]).toEqual([200, importOf('no/such')]);
  for (const refused of [await ask(stranger, path), await ask(member, 'no/such/project'), await ask(null, 'alone')])
    expect([refused.status, refused.body]).toEqual([404, { message: '404 Not found' }]);
});

it('escapes what callers send', async () => {
  const { text } = await ask(null, `${encodeURIComponent('"><script>')}/${encodeURIComponent('&b')}`);
  expect(text).not.toContain('<script');
  expect(text).toContain('base/%22%3E%3Cscript%3E/%26b git https://rookery.example/base/%22%3E%3Cscript%3E/%26b.git"');
});
