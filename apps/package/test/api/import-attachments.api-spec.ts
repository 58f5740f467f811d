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
const sourceDigestOf = (address: string): string => createHash('sha256').update(address).digest('hex');

let service: PackageService;
let project: DirectoryProject;
beforeAll(async () => {
  service = await startPackage();
  project = await service.seed.project({ visibility: 'public' });
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.close());

const storeAttachment = (query: object, content = PNG, key = KEY) =>
  service.app
    .bare()
    .post(INTERNAL_PATHS.importAttachment)
    .query({ project_id: project.id, source: sourceDigestOf('a'), filename: 'a.png', ...query })
    .set('authorization', key)
    .set('content-type', 'application/octet-stream')
    .send(content);
const findAttachments = (body: object, key = KEY) =>
  service.app.bare().post(INTERNAL_PATHS.importAttachments).set('authorization', key).send(body);
const download = (url: string) =>
  service.app.as(service.seed.anonymous()).get(`/-/project/${project.id}${url}`).buffer(true);
const listUploadRows = () =>
  service.database.query<{ filename: string }>('select filename from uploads where project_id = $1 order by id', [
    project.id,
  ]);

it('stores a file once for each address, and finds it', async () => {
  const source = sourceDigestOf('https://git.example/user-attachments/assets/1');
  const [first, second] = await Promise.all([storeAttachment({ source }), storeAttachment({ source })]);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body).toEqual(first.body);
  const { body: attachment } = await storeAttachment({ source, filename: 'other.png' }, HTML).expect(200);
  expect(attachment).toEqual(first.body);
  const { url } = first.body as { readonly url: string };
  expect(first.body).toEqual({
    url: expect.stringMatching(/^\/uploads\/[0-9a-f]{32}\/a\.png$/),
    markdown: `![a](${url})`,
  });
  const file = await download(url);
  expect([file.status, file.body, file.headers['content-type']]).toEqual([200, PNG, 'image/png']);
  const sources = [sourceDigestOf('none'), source];
  const { body } = await findAttachments({ project_id: project.id, sources }).expect(200);
  expect(body).toEqual({ attachments: [null, attachment], total: { files: 1, bytes: PNG.length } });
  const { id } = await service.seed.project();
  expect((await findAttachments({ project_id: id, sources }).expect(200)).body).toEqual({
    ...{ attachments: [null, null], total: { files: 0, bytes: 0 } },
  });
});

it('stores a page that claims to be a picture as a file, under a name of one segment', async () => {
  const { body } = await storeAttachment(
    { source: sourceDigestOf('html'), filename: '../../../etc/x.png' },
    HTML,
  ).expect(200);
  expect(body.markdown).toMatch(/^\[x\.png\]\(\/uploads\/[0-9a-f]{32}\/x\.png\)$/);
  const file = await download(body.url);
  expect(file.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'content-disposition': expect.stringContaining('attachment'),
  });
});

it('refuses other callers, bad parameters, and missing and archived projects, and stores nothing for them', async () => {
  const before = (await listUploadRows()).length;
  const other = internalAuthorization('identity', 'package');
  await storeAttachment({}, PNG, other).expect(403);
  await storeAttachment({}, PNG, 'Bearer x').expect(401);
  await findAttachments({ project_id: project.id, sources: [] }, other).expect(403);
  for (const query of [{ project_id: 'x' }, { source: 'x' }, { filename: 'x'.repeat(1025) }, { source: ['a', 'b'] }])
    await storeAttachment(query).expect(400);
  for (const body of [
    { project_id: 'x', sources: [] },
    { project_id: project.id, sources: ['x'] },
    { project_id: project.id, sources: Array.from({ length: 101 }, (_, n) => sourceDigestOf(String(n))) },
    {},
  ])
    await findAttachments(body).expect(400);
  await storeAttachment({ project_id: 999_999 }).expect(404);
  const archived = await service.seed.project({ archived: true });
  await storeAttachment({ project_id: archived.id }).expect(404);
  expect(await listUploadRows()).toHaveLength(before);
});

/** Sends the first part of a file. Returns the request, which the service has begun to store. */
const beginUpload = async (projectId: number): Promise<ClientRequest> => {
  const files = service.app.get(PackageFiles);
  const whole = files.storeFile.bind(files);
  const stores = new Promise<void>((begun) => {
    jest.spyOn(files, 'storeFile').mockImplementation((...given) => {
      begun();
      return whole(...given);
    });
  });
  const query = new URLSearchParams({
    project_id: String(projectId),
    source: sourceDigestOf('late'),
    filename: 'late.png',
  });
  const sent = request(`${service.app.baseUrl}${INTERNAL_PATHS.importAttachment}?${query}`, {
    ...{ method: 'POST', headers: { authorization: KEY, 'content-type': 'application/octet-stream' } },
  });
  sent.on('error', () => undefined).write(PNG);
  await stores;
  return sent;
};
const findLateUpload = () =>
  service.database.query(`select id from uploads where import_source = $1`, [sourceDigestOf('late')]);

it.each(['deleted', 'archived'])('stores no file of a project that is %s while the file arrives', async (what) => {
  const other = await service.seed.project();
  const sent = await beginUpload(other.id);
  if (what === 'deleted') await service.seed.remove('projects', other.id);
  else await service.seed.put('projects', { ...other, archived: true });
  const answered = once(sent, 'response');
  sent.end();
  const [answer] = (await answered) as [IncomingMessage];
  answer.resume();
  expect([answer.statusCode, await findLateUpload()]).toEqual([404, []]);
});

it('counts no outage for a file that breaks off, and stores nothing', async () => {
  const noted = jest.spyOn(service.app.get(Outages), 'recordOutage');
  const sent = await beginUpload(project.id);
  const before = service.app.logs.length;
  const [stored] = jest.mocked(service.app.get(PackageFiles).storeFile).mock.results;
  sent.destroy();
  await expect(stored!.value).rejects.toThrow('aborted');
  // The service answers this request after it has handled the error of the other one.
  await findAttachments({ project_id: project.id, sources: [] }).expect(200);
  expect([noted.mock.calls, await findLateUpload()]).toEqual([[], []]);
  expect(service.app.logs.slice(before).filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
});
