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

const requestGoImport = (who: SeededUser | null, importPath: string): Promise<Response> =>
  service.app
    .as(who === null ? service.seed.anonymous() : service.seed.viewer(who))
    .get(`/-/go-get/${importPath}`)
    .query({ 'go-get': '1' });
const expectedImportPage = (of: string): string =>
  `<html><head><meta name="go-import" content="rookery.example/base/${of} git https://rookery.example/base/${of}.git"></head></html>\n`;

it('names the project of a package and of a folder in it', async () => {
  for (const importPath of [path, `${path}/internal/parser`, path.toUpperCase()]) {
    const { status, text, headers } = await requestGoImport(member, importPath);
    expect([status, text, headers['content-type']]).toEqual([
      200,
      expectedImportPage(path),
      'text/html; charset=utf-8',
    ]);
  }
});

it('tells anonymous callers nothing about a hidden project, and signed-in callers that there is none', async () => {
  const hidden = await requestGoImport(null, `${path}/package`);
  const missing = await requestGoImport(null, 'no/such/project/package');
  expect([hidden.status, hidden.text]).toEqual([200, expectedImportPage(path.split('/').slice(0, 2).join('/'))]);
  expect([missing.status, missing.text]).toEqual([200, expectedImportPage('no/such')]);
  for (const refused of [
    await requestGoImport(stranger, path),
    await requestGoImport(member, 'no/such/project'),
    await requestGoImport(null, 'alone'),
  ])
    expect([refused.status, refused.body]).toEqual([404, { message: '404 Not found' }]);
});

it('escapes what callers send', async () => {
  const { text } = await requestGoImport(null, `${encodeURIComponent('"><script>')}/${encodeURIComponent('&b')}`);
  expect(text).not.toContain('<script');
  expect(text).toContain('base/%22%3E%3Cscript%3E/%26b git https://rookery.example/base/%22%3E%3Cscript%3E/%26b.git"');
});
