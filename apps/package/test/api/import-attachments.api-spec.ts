import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import { Outages } from '@rookery/platform';
import { internalAuthorization } from '@rookery/testing';
import { PackageFiles } from '../../src/packages/package-files';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('pixels')]);
const HTML = Buffer.from('<!doctype html><script>alert(1)</script>');
const KEY = internalAuthorization('import', 'package');
const sourceOf = (address: string): string => createHash('sha256').update(address).digest('hex');

let service: PackageService;
let project: DirectoryProject;
beforeAll(async () => {
  service = await startPackage();
  project = await service.seed.project({ visibility: 'public' });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.close());

const store = (query: object, content = PNG, key = KEY) =>
  service.app
    .bare()
    .post(INTERNAL_PATHS.importAttachment)
    .query({ project_id: project.id, source: sourceOf('a'), filename: 'a.png', ...query })
    .set('authorization', key)
    .set('content-type', 'application/octet-stream')
    .send(content);
const find = (body: object, key = KEY) =>
  service.app.bare().post(INTERNAL_PATHS.importAttachments).set('authorization', key).send(body);
const download = (url: string) =>
  service.app.as(service.seed.anonymous()).get(`/-/project/${project.id}${url}`).buffer(true);
const rows = () =>
  service.database.query<{ filename: string }>('select filename from uploads where project_id = $1 order by id', [
    project.id,
  ]);

it('stores a file once for each address, and finds it', async () => {
  const source = sourceOf('https://git.example/user-attachments/assets/1');
  const [first, second] = await Promise.all([store({ source }), store({ source })]);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body).toEqual(first.body);
  const { body: attachment } = await store({ source, filename: 'other.png' }, HTML).expect(200);
  expect(attachment).toEqual(first.body);
  const { url } = first.body as { readonly url: string };
  expect(first.body).toEqual({
    url: expect.stringMatching(/^\/uploads\/[0-9a-f]{32}\/a\.png$/),
    markdown: `![a](${url})`,
  });
  const file = await download(url);
  expect([file.status, file.body, file.headers['content-type']]).toEqual([200, PNG, 'image/png']);
  const sources = [sourceOf('none'), source];
  const { body } = await find({ project_id: project.id, sources }).expect(200);
  expect(body).toEqual({ attachments: [null, attachment], total: { files: 1, bytes: PNG.length } });
  const { id } = await service.seed.project();
  expect((await find({ project_id: id, sources }).expect(200)).body).toEqual({
    ...{ attachments: [null, null], total: { files: 0, bytes: 0 } },
  });
});

it('stores a page that claims to be a picture as a file, under a name of one segment', async () => {
  const { body } = await store({ source: sourceOf('html'), filename: '../../../etc/x.png' }, HTML).expect(200);
  expect(body.markdown).toMatch(/^\[x\.png\]\(\/uploads\/[0-9a-f]{32}\/x\.png\)$/);
  const file = await download(body.url);
  expect(file.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'content-disposition': expect.stringContaining('attachment'),
  });
});

it('refuses other callers, bad parameters, and missing and archived projects, and stores nothing for them', async () => {
  const before = (await rows()).length;
  const other = internalAuthorization('identity', 'package');
  await store({}, PNG, other).expect(403);
  await store({}, PNG, 'Bearer x').expect(401);
  await find({ project_id: project.id, sources: [] }, other).expect(403);
  for (const query of [{ project_id: 'x' }, { source: 'x' }, { filename: 'x'.repeat(1025) }, { source: ['a', 'b'] }])
    await store(query).expect(400);
  for (const body of [
    { project_id: 'x', sources: [] },
    { project_id: project.id, sources: ['x'] },
    { project_id: project.id, sources: Array.from({ length: 101 }, (_, n) => sourceOf(String(n))) },
    {},
  ])
    await find(body).expect(400);
  await store({ project_id: 999_999 }).expect(404);
  const archived = await service.seed.project({ archived: true });
  await store({ project_id: archived.id }).expect(404);
  expect(await rows()).toHaveLength(before);
});

/** Sends the first part of a file. Returns the request, which the service has begun to store. */
const beginning = async (projectId: number): Promise<ClientRequest> => {
  const files = service.app.get(PackageFiles);
  const whole = files.storeFile.bind(files);
  const stores = new Promise<void>((begun) => {
    jest.spyOn(files, 'storeFile').mockImplementation((...given) => {
      begun();
      return whole(...given);
    });
  });
  const query = new URLSearchParams({ project_id: String(projectId), source: sourceOf('late'), filename: 'late.png' });
  const sent = request(`${service.app.baseUrl}${INTERNAL_PATHS.importAttachment}?${query}`, {
    ...{ method: 'POST', headers: { authorization: KEY, 'content-type': 'application/octet-stream' } },
  });
  sent.on('error', () => undefined).write(PNG);
  await stores;
  return sent;
};
const late = () => service.database.query(`select id from uploads where import_source = $1`, [sourceOf('late')]);

it.each(['deleted', 'archived'])('stores no file of a project that is %s while the file arrives', async (what) => {
  const other = await service.seed.project();
  const sent = await beginning(other.id);
  if (what === 'deleted') await service.seed.remove('projects', other.id);
  else await service.seed.put('projects', { ...other, archived: true });
  const answered = once(sent, 'response');
  sent.end();
  const [answer] = (await answered) as [IncomingMessage];
  answer.resume();
  expect([answer.statusCode, await late()]).toEqual([404, []]);
});

it('counts no outage for a file that breaks off, and stores nothing', async () => {
  const noted = jest.spyOn(service.app.get(Outages), 'recordOutage');
  const sent = await beginning(project.id);
  const before = service.app.logs.length;
  const [stored] = jest.mocked(service.app.get(PackageFiles).storeFile).mock.results;
  sent.destroy();
  await expect(stored!.value).rejects.toThrow('aborted');
  // The service answers this request after it has handled the error of the other one.
  await find({ project_id: project.id, sources: [] }).expect(200);
  expect([noted.mock.calls, await late()]).toEqual([[], []]);
  expect(service.app.logs.slice(before).filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
});
