import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Gitlab } from '@gitbeaker/rest';
import { estate, mark } from '../support/estate';

const run = promisify(execFile);

/** Generic packages by curl and by an API client that people already use, unmodified. */
describe('generic packages', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  let projectId: number;
  let base: string;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rookery-generic-'));
    const path = `generic-${mark}`;
    const { id } = await root.Groups.create(path, path);
    projectId = (await root.Projects.create({ name: 'eggs', namespaceId: id, visibility: 'private' })).id;
    base = `${estate.baseUrl}/api/v4/projects/${projectId}/packages/generic`;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const curl = async (...args: string[]): Promise<{ status: number; body: string }> => {
    const { stdout } = await run('curl', ['-s', '-w', '\n%{http_code}', ...args], { maxBuffer: 64 * 1024 * 1024 });
    const at = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
  };
  const token = ['-H', `PRIVATE-TOKEN: ${estate.rootToken}`];

  it('goes up with curl --upload-file and comes down again, by header and by user and password', async () => {
    const bytes = randomBytes(3 * 1024 * 1024);
    const file = join(folder, 'build.bin');
    writeFileSync(file, bytes);
    const url = `${base}/tool/1.0.0/`;
    const up = await curl(...token, '--upload-file', file, url);
    expect([up.status, JSON.parse(up.body)]).toEqual([201, { message: '201 Created' }]);
    for (const auth of [token, ['--user', `anybody:${estate.rootToken}`]]) {
      const target = join(folder, 'down.bin');
      const down = await curl(...auth, '-o', target, '-D', join(folder, 'head'), `${url}build.bin`);
      expect(down.status).toBe(200);
      const { stdout } = await run('sha256sum', [target]);
      expect(stdout.slice(0, 64)).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
    expect((await curl(...token, '-r', '10-19', '-o', '/dev/null', `${url}build.bin`)).status).toBe(206);
  });

  it('asks anonymous callers for credentials, and refuses wrong ones', async () => {
    for (const auth of [[], ['--user', 'anybody:wrong']]) {
      const { status, body } = await curl(...auth, '-D', '-', `${base}/tool/1.0.0/build.bin`);
      expect(status).toBe(401);
      expect(body.toLowerCase()).toContain('www-authenticate: basic realm="gitlab packages registry"');
    }
  });

  it('is published, listed, downloaded and removed by a stock SDK', async () => {
    const content = new Blob(['from the SDK']);
    await root.PackageRegistry.publish(projectId, 'sdk-tool', '2.0.0', { content, filename: 'a.txt' });
    const [found] = await root.Packages.all({ projectId, packageName: 'sdk-tool' });
    expect(found).toMatchObject({ name: 'sdk-tool', version: '2.0.0', package_type: 'generic' });
    const files = await root.Packages.allFiles(projectId, found!.id);
    expect(files).toMatchObject([{ file_name: 'a.txt', size: 12 }]);
    const down = await root.PackageRegistry.download(projectId, 'sdk-tool', '2.0.0', 'a.txt');
    // The declared type of this method is that of a JSON answer.
    expect(await (down as unknown as Blob).text()).toBe('from the SDK');
    await root.Packages.removeFile(projectId, found!.id, files[0]!.id);
    expect(await root.Packages.all({ projectId, packageName: 'sdk-tool' })).toEqual([]);
  });
});
