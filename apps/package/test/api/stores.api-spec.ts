import { randomBytes } from 'node:crypto';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { BlobStorage } from '@rookery/blobs';
import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';
import { CREDENTIALS, startS3Server } from '../../../../libs/blobs/test/support/s3-server';
import { openRequest } from '../support/answers';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { getMaven, mavenPath, putMaven } from '../support/maven';
import { memberOf, npmOf, published, tarballOf } from '../support/npm';
import { genericPath } from '../support/packages';
import { pypiPath, sha256, uploaded, wheelOf } from '../support/pypi';

const MIB = 1024 * 1024;

async function startOnDisk(): Promise<PackageService> {
  return startPackage();
}

async function startOnS3(): Promise<PackageService> {
  const server = await startS3Server();
  const service = await startPackage({
    BLOBS_URL: server.url,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  });
  const close = async (): Promise<void> => {
    await service.close();
    await server.close();
  };
  return { ...service, close };
}

describe.each([
  ['a disk', startOnDisk],
  ['S3', startOnS3],
] as const)('registries over %s', (_, start) => {
  let service: PackageService;
  let app: TestApp;
  let project: DirectoryProject;
  let developer: Viewer;
  beforeAll(async () => {
    service = await start();
    ({ app } = service);
    project = await service.seed.project({ visibility: 'private' });
    developer = await memberOf(service.seed, project, 'developer');
  });
  afterAll(() => service.close());

  const get = (path: string) => app.as(developer).get(path).buffer(true);

  it('keep generic files of any size, with ranges, HEAD and conditions', async () => {
    for (const size of [0, 1, 5 * MIB, 11 * MIB + 7]) {
      const content = randomBytes(size);
      const path = genericPath(project, 'sized', '1.0.0', `${size}.bin`);
      await app.as(developer).put(path).type('application/octet-stream').send(content).expect(201);
      const { body, headers } = await get(path);
      expect([size, sha256(body as Buffer), headers['content-length']]).toEqual([size, sha256(content), `${size}`]);
      const head = await app.as(developer).head(path);
      expect([head.status, head.headers['etag']]).toEqual([200, `"${sha256(content)}"`]);
      await get(path).set('if-none-match', headers['etag']!).expect(304);
      if (size < 2) continue;
      const part = await get(path).set('range', `bytes=1-${size - 2}`);
      expect([part.status, sha256(part.body as Buffer)]).toEqual([206, sha256(content.subarray(1, -1))]);
    }
  });

  it('keep npm packages, read their manifests, and serve their tarballs', async () => {
    const manifest = { dependencies: { other: '1' } };
    const text = JSON.stringify({ name: 'kept', version: '1.0.0', ...manifest });
    const tarball = await tarballOf({ 'package/package.json': text });
    await published(app, developer, project, { name: 'kept', version: '1.0.0', manifest, tarball });
    const { body } = await get(`${npmOf.project(project)}/kept`);
    expect((body as { versions: object }).versions).toMatchObject({ '1.0.0': manifest });
    const down = await get(`${npmOf.project(project)}/kept/-/kept-1.0.0.tgz`);
    expect(sha256(down.body as Buffer)).toBe(sha256(tarball));
  });

  it('keep Python packages, and read the metadata of wheels by ranges', async () => {
    const METADATA = 'Metadata-Version: 2.1\nName: wheeled\nVersion: 1.0\n';
    const content = await wheelOf({
      'wheeled/data.bin': randomBytes(300_000).toString('hex'),
      'wheeled-1.0.dist-info/METADATA': METADATA,
    });
    const file = 'wheeled-1.0-py3-none-any.whl';
    await uploaded(app, developer, project, { name: 'wheeled', file, content });
    const path = `${pypiPath(project)}/files/${sha256(content)}/${file}`;
    expect(sha256((await get(path)).body as Buffer)).toBe(sha256(content));
    expect(((await get(`${path}.metadata`)).body as Buffer).toString()).toBe(METADATA);
  });

  it('keep Maven files and snapshot metadata', async () => {
    const metadata =
      '<metadata><groupId>com.acme</groupId><artifactId>app</artifactId><version>1-SNAPSHOT</version></metadata>';
    await putMaven(app, developer, mavenPath(project, 'com/acme/app/1.0/app-1.0.jar'), 'jar').expect(200);
    await putMaven(app, developer, mavenPath(project, 'com/acme/app/1-SNAPSHOT/maven-metadata.xml'), metadata).expect(
      200,
    );
    expect((await getMaven(app, developer, mavenPath(project, 'com/acme/app/1.0/app-1.0.jar'))).text).toBe('jar');
    const down = await getMaven(app, developer, mavenPath(project, 'com/acme/app/1-SNAPSHOT/maven-metadata.xml'));
    expect(down.text).toBe(metadata);
  });

  it('show nothing of an upload that was cut, and sweep what is left of it', async () => {
    const path = genericPath(project, 'cut', '1.0.0', 'a.bin');
    for (const sent of [1, 70_000, 6 * MIB]) {
      const request = openRequest(
        app
          .as(developer)
          .put(path)
          .set('content-length', String(8 * MIB)),
      );
      const ended = new Promise((resolve) => request.once('error', resolve));
      await new Promise<void>((resolve) => request.write(randomBytes(sent), () => resolve()));
      request.destroy(new Error('cut'));
      await ended;
    }
    expect((await get(path)).status).toBe(404);
    await app.as(developer).put(path).type('application/octet-stream').send(Buffer.from('kept')).expect(201);
    const blobs = app.get(BlobStorage);
    const findReferenced = () => Promise.resolve([sha256('kept')]);
    // Everything counts as old, and only the file of the last upload as named.
    const leftovers = async (): Promise<number> =>
      (await blobs.sweep({ findReferenced, olderThanMs: -60_000 })).leftovers;
    for (let turn = 0; turn < 200 && (await leftovers()) > 0; turn++) await new Promise(setImmediate);
    expect(await leftovers()).toBe(0);
    expect(((await get(path)).body as Buffer).toString()).toBe('kept');
  });
});

/** A way to the store that can be cut: open connections end, and new ones are refused. */
async function startCuttableProxy(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).once('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  const listen = (at: number): Promise<void> => new Promise((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port: own } = server.address() as AddressInfo;
  const cut = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port: own, cut, mend: () => listen(own) };
}

describe('a store in S3 that goes away during an upload', () => {
  it('loses no acknowledged file, and lists nothing else', async () => {
    const server = await startS3Server();
    const way = await startCuttableProxy(server.port);
    const service = await startPackage({
      BLOBS_URL: server.url.replace(`:${server.port}`, `:${way.port}`),
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    });
    const { app } = service;
    const project = await service.seed.project({ visibility: 'private' });
    const developer = await memberOf(service.seed, project, 'developer');
    const path = (file: string): string => genericPath(project, 'sturdy', '1.0.0', file);
    const put = (file: string, content: Buffer) =>
      app.as(developer).put(path(file)).type('application/octet-stream').send(content);
    const kept = randomBytes(6 * MIB);
    await put('kept.bin', kept).expect(201);
    const size = 12 * MIB;
    const request = openRequest(app.as(developer).put(path('lost.bin')).set('content-length', String(size)));
    const status = new Promise<number | undefined>((resolve) => {
      request.once('response', (answer) => resolve(answer.statusCode)).once('error', () => resolve(undefined));
    });
    await new Promise<void>((resolve) => request.write(randomBytes(7 * MIB), () => resolve()));
    await way.cut();
    request.end(randomBytes(size - 7 * MIB));
    expect([503, undefined]).toContain(await status);
    await way.mend();
    const down = await app.as(developer).get(path('kept.bin')).buffer(true).expect(200);
    expect(sha256(down.body as Buffer)).toBe(sha256(kept));
    await app.as(developer).get(path('lost.bin')).expect(404);
    const rows = await service.database.query(`select file_name, sha256 from package_files`);
    expect(rows).toEqual([{ file_name: 'kept.bin', sha256: sha256(kept) }]);
    await put('lost.bin', kept).expect(201);
    await service.close();
    await way.cut();
    await server.close();
  });
});
