import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { HostedFile } from '@rookery/testing';
import { ProjectUploads } from '../../src/stages/attachments/project-uploads';
import { ImportScene } from '../support/scene';
import type { StartedImport } from '../support/scene';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('pixels')]);
const AT = '2024-01-02T03:04:05Z';
const robin = { id: 11, login: 'robin' };

/** A server that the host redirects to, such as a store of files. */
const cdnRequests: IncomingMessage[] = [];
let onCdn: (response: ServerResponse) => void = (response) => void response.end();
const cdn = createServer((request, response) => {
  cdnRequests.push(request);
  response.on('error', () => undefined);
  onCdn(response);
});
/** A server that the operator has not listed. */
let forbiddenConnections = 0;
const forbidden = createServer((_request, response) => void response.end('internal'));
const portOf = (server: typeof cdn): number => (server.address() as AddressInfo).port;

let scene: ImportScene;
beforeAll(async () => {
  forbidden.on('connection', () => void (forbiddenConnections += 1));
  for (const server of [cdn, forbidden])
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  scene = await ImportScene.open({}, [{ address: `127.0.0.1:${portOf(cdn)}` }]);
});
afterEach(() => {
  scene.host.answer = null;
  scene.inside.afterFile = async () => undefined;
  scene.inside.onObjects = async () => ({ failed: [] });
  scene.inside.files.length = 0;
  scene.host.files.clear();
});
afterAll(async () => {
  await scene.close();
  for (const server of [cdn, forbidden]) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

const issue = (number: number, body: string) => ({
  ...{ number, title: `Issue ${number}`, body, state: 'open', user: robin, assignees: [], labels: [] },
  ...{ milestone: null, locked: false, created_at: AT, updated_at: AT, closed_at: null },
});
const comment = (id: number, body: string) => ({
  ...{ id, body, user: robin, created_at: AT, updated_at: AT },
  html_url: `https://git.example/wren/x/issues/1#issuecomment-${id}`,
});
/** Adds a file to the host. Returns its address. */
const addHostedFile = (path: string, file: Partial<HostedFile> = {}): string => {
  scene.host.files.set(path, { type: 'image/png', content: PNG, ...file });
  return scene.host.url + path;
};
const withAttachments = { optional_stages: { attachments_import: 'true' } };
const listSentTexts = ({ projectId }: StartedImport, field = 'description', kind = 'issue'): readonly unknown[] =>
  scene.inside.objects
    .filter((request) => request.project_id === projectId && request.kind === kind)
    .flatMap(({ objects }) => objects.map((object) => (object as unknown as Record<string, unknown>)[field]));
const showImport = async ({ projectId }: StartedImport) =>
  (await scene.as(scene.owner).get(`/api/v4/projects/${projectId}/import`).expect(200)).body as {
    readonly import_status: string;
    readonly stats: { readonly fetched: Record<string, number>; readonly imported: Record<string, number> };
    readonly failed_relations: readonly { readonly relation_name: string; readonly exception_message: string }[];
  };
const limitRate = (path: string): void => {
  scene.host.answer = (request, response) => {
    if (request.url !== path) return false;
    response.writeHead(429, { 'retry-after': '60' }).end();
    return true;
  };
};
const requestsFor = (path: string): number => scene.host.seen.filter((request) => request.path === path).length;

const manyFiles = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${scene.host.url}/user-attachments/files/9/${n}.txt`);

it('stores the files of all texts, each once, and rewrites the texts', async () => {
  const started = await scene.started('heron', withAttachments);
  const { repository, importId } = started;
  const [image, file] = [addHostedFile('/user-attachments/assets/1'), addHostedFile('/wren/heron/files/2/%C3%9C.pdf')];
  const [pull, review] = [addHostedFile('/user-attachments/files/3/p.txt'), addHostedFile('/assets/4/r.txt')];
  const [line, release] = [addHostedFile('/storage/user/5/files/l.txt'), addHostedFile('/wren/heron/assets/6/n.txt')];
  scene.host.put(repository, 'issues', [issue(1, `![x](${image}) and ${file}.`), issue(2, `\`${image}\``)]);
  scene.host.put(repository, 'issues/comments', [comment(51, `<img src="${image}">`)]);
  const head = { ref: 'x', sha: 'a'.repeat(40), user: robin, repo: { id: 1 } };
  scene.host.put(repository, 'pulls', [
    { ...issue(3, `[p](${pull})`), head, base: { ...head, ref: 'main' }, merged_at: null, requested_reviewers: [] },
  ]);
  scene.host.put(repository, 'pulls/3/reviews', [
    {
      ...{ id: 7, user: robin, state: 'COMMENTED', body: `[r](${review})`, submitted_at: AT },
      html_url: 'https://git.example/wren/x/pull/3#pullrequestreview-7',
    },
  ]);
  scene.host.put(repository, 'pulls/comments', [
    {
      ...{ id: 8, body: `[l](${line})`, user: robin, created_at: AT, updated_at: AT, path: 'a.ts', side: 'RIGHT' },
      ...{ line: 5, start_line: null, commit_id: 'a'.repeat(40) },
      pull_request_url: 'https://git.example/api/v3/repos/wren/x/pulls/3',
    },
  ]);
  scene.host.put(repository, 'releases', [
    { id: 9, tag_name: 'v1', name: null, body: `[n](${release})`, draft: false, created_at: AT, author: robin },
  ]);
  await scene.run(importId);
  expect(scene.inside.files.map(({ filename, content }) => [filename, content])).toEqual(
    ['n.txt', '1.png', 'Ü.pdf', 'p.txt', 'r.txt', 'l.txt'].map((name) => [name, PNG]),
  );
  expect(listSentTexts(started)).toEqual([
    '![x](/uploads/1/1.png) and [Ü.pdf](/uploads/2/%C3%9C.pdf).',
    `\`${image}\``,
  ]);
  expect(listSentTexts(started, 'body', 'note')).toEqual(['<img src="/uploads/1/1.png">']);
  expect(listSentTexts(started, 'description', 'merge_request')).toEqual(['[p](/uploads/3/p.txt)']);
  expect(listSentTexts(started, 'body', 'review')).toEqual(['[r](/uploads/4/r.txt)']);
  expect(listSentTexts(started, 'body', 'diff_note')).toEqual(['[l](/uploads/5/l.txt)']);
  expect(listSentTexts(started, 'description', 'release')).toEqual(['[n](/uploads/0/n.txt)']);
  expect(requestsFor('/user-attachments/assets/1')).toBe(1);
  expect(await showImport(started)).toMatchObject({
    import_status: 'finished',
    stats: { fetched: { attachment: 7 }, imported: { attachment: 7 } },
    failed_relations: [],
  });
});

it('leaves files upstream unless the user wants them', async () => {
  const started = await scene.started('egret', { optional_stages: { attachments_import: false } });
  const text = `![x](${addHostedFile('/user-attachments/assets/1')})`;
  scene.host.put(started.repository, 'issues', [issue(1, text)]);
  await scene.run(started.importId);
  expect([listSentTexts(started), scene.inside.files]).toEqual([[text], []]);
  expect((await showImport(started)).stats.fetched).not.toHaveProperty('attachment');
});

it('follows redirects to listed servers without the credential', async () => {
  const started = await scene.started('stork', withAttachments);
  const location = `http://127.0.0.1:${portOf(cdn)}/store/1?signature=s`;
  onCdn = (response) =>
    void response.writeHead(200, { 'content-disposition': 'attachment; filename="../../a b.png"' }).end(PNG);
  scene.host.put(started.repository, 'issues', [
    issue(1, `![x](${addHostedFile('/user-attachments/assets/1', { location })})`),
  ]);
  await scene.run(started.importId);
  expect(cdnRequests.splice(0).map(({ headers }) => headers.authorization)).toEqual([undefined]);
  expect(scene.inside.files.map(({ filename }) => filename)).toEqual(['../../a b.png']);
});

it('asks for no other path than those of attachments', async () => {
  const started = await scene.started('shrike', withAttachments);
  addHostedFile('/api/v3/user', { type: 'application/json', content: Buffer.from('{"secret":true}') });
  const [plain, encoded] = ['/assets/../api/v3/user', '/wren/shrike/files/%2e%2e/%2E./..%2f../api/v3/user'];
  const text = `![x](${scene.host.url}${plain}) ![x](${scene.host.url}${encoded})`;
  scene.host.put(started.repository, 'issues', [issue(1, text)]);
  const { length } = scene.host.seen;
  await scene.run(started.importId);
  const expected = /^\/api\/v3\/repos|^\/wren\/shrike\.git\//;
  expect(scene.host.seen.slice(length).filter(({ path }) => !expected.test(path))).toEqual([]);
  expect([listSentTexts(started), scene.inside.files]).toEqual([[text], []]);
  expect(await showImport(started)).toMatchObject({ import_status: 'finished', failed_relations: [] });
});

it('stores each file once and writes the texts after a death between them', async () => {
  const started = await scene.started('ibis', withAttachments);
  const [a, b] = [addHostedFile('/user-attachments/files/1/a.txt'), addHostedFile('/user-attachments/files/1/b.txt')];
  scene.host.put(started.repository, 'issues', [issue(1, `[a](${a})`), issue(2, `[a](${a}) [b](${b})`)]);
  const dead = new AbortController();
  scene.inside.afterFile = async () => dead.abort(new Error('killed'));
  await expect(scene.run(started.importId, 1, dead.signal)).rejects.toThrow('killed');
  scene.inside.afterFile = async () => undefined;
  await scene.run(started.importId, 2);
  expect(scene.inside.files.map(({ filename }) => filename)).toEqual(['a.txt', 'b.txt']);
  expect(requestsFor('/user-attachments/files/1/a.txt')).toBe(1);
  expect(listSentTexts(started)).toEqual(['[a](/uploads/0/a.txt)', '[a](/uploads/0/a.txt) [b](/uploads/1/b.txt)']);
  expect(await showImport(started)).toMatchObject({ import_status: 'finished', failed_relations: [] });
});

it('asks for no more files of a text after the import is cancelled', async () => {
  const started = await scene.started('plover', withAttachments);
  const addresses = manyFiles(3);
  for (const address of addresses) addHostedFile(new URL(address).pathname);
  scene.host.put(started.repository, 'issues', [issue(1, addresses.join(' '))]);
  scene.inside.afterFile = async () =>
    void (await scene
      .as(scene.owner)
      .post('/api/v4/import/remote/cancel')
      .send({ project_id: started.projectId })
      .expect(200));
  await scene.run(started.importId);
  expect(scene.inside.files.map(({ filename }) => filename)).toEqual(['0.txt']);
  expect(requestsFor(new URL(addresses[1]!).pathname)).toBe(0);
  expect(listSentTexts(started)).toEqual([]);
});

it('waits for a rate limit of files, and then continues with the page', async () => {
  const started = await scene.started('crane', withAttachments);
  const path = '/user-attachments/files/1/c.txt';
  scene.host.put(started.repository, 'issues', [issue(1, `[c](${addHostedFile(path)})`)]);
  limitRate(path);
  await scene.run(started.importId);
  expect(await scene.row(started.importId)).toMatchObject({ state: 'started' });
  expect(listSentTexts(started)).toEqual([]);
  scene.host.answer = null;
  await scene.run(started.importId);
  expect(listSentTexts(started)).toEqual(['[c](/uploads/0/c.txt)']);
});

it('gives up a file whose rate limit does not end', async () => {
  const started = await scene.started('knot', withAttachments);
  const path = '/user-attachments/files/1/k.txt';
  const text = `[k](${addHostedFile(path)})`;
  scene.host.put(started.repository, 'issues', [issue(1, text)]);
  limitRate(path);
  await scene.run(started.importId);
  expect(await showImport(started)).toMatchObject({ import_status: 'started', failed_relations: [] });
  await scene.service.database.query(
    `update project_imports set updated_at = now() - interval '7 hours' where id = $1`,
    [started.importId],
  );
  await scene.run(started.importId);
  expect(listSentTexts(started)).toEqual([text]);
  expect(await showImport(started)).toMatchObject({
    import_status: 'finished',
    failed_relations: [{ exception_message: expect.stringContaining('The rate of requests is limited.') }],
  });
});

it('sends as many files at a time as a worker runs imports', async () => {
  const uploads = scene.service.app.get(ProjectUploads);
  let release: () => void = () => undefined;
  const allArrived = new Promise<void>((released) => (release = released));
  scene.inside.afterFile = () => {
    if (scene.inside.files.length === 3) release();
    return allArrived;
  };
  const { signal } = new AbortController();
  const sent = [1, 2, 3].map((n) =>
    uploads.storeUpload(n, 'x', { filename: `${n}.txt`, content: Readable.from([PNG]) }, signal),
  );
  expect(await Promise.all(sent)).toHaveLength(3);
});

it('does not wait for the rate limit of another server', async () => {
  const started = await scene.started('ruff', withAttachments);
  const location = `http://127.0.0.1:${portOf(cdn)}/store/1`;
  onCdn = (response) => void response.writeHead(429, { 'retry-after': '60' }).end();
  scene.host.put(started.repository, 'issues', [
    issue(1, `![x](${addHostedFile('/user-attachments/assets/1', { location })})`),
  ]);
  await scene.run(started.importId);
  expect(await showImport(started)).toMatchObject({ import_status: 'finished', failed_relations: [{}] });
});

it('keeps links whose files cannot be fetched, and lists them as failed relations', async () => {
  const endless = (response: ServerResponse): void => {
    const more = (): void => {
      if (response.destroyed) return;
      if (response.write(Buffer.alloc(1 << 20))) setImmediate(more);
      else response.once('drain', more);
    };
    more();
  };
  const { token } = scene.host;
  const cases: readonly (readonly [name: string, message: string, answer: (response: ServerResponse) => void])[] = [
    [
      'missing',
      '{"message":"Not Found"} (HTTP 404)',
      (response) => void response.writeHead(404).end('{"message":"Not Found"}'),
    ],
    ['broken', 'no (HTTP 500)', (response) => void response.writeHead(500).end('no')],
    ['endless', 'The answer is larger than 104857600 bytes.', endless],
    [
      'shorter than announced',
      'The server cannot be reached (UND_ERR_SOCKET).',
      (response) => void response.writeHead(200, { 'content-length': 100 }).write('x', () => response.socket!.end()),
    ],
    [
      'a web page',
      'The host sent a web page in place of a file.',
      (response) => void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<script>'),
    ],
    [
      'one that repeats the credential',
      'The answer repeats the credential.',
      (response) => {
        response.writeHead(200).write(`x${token.slice(0, 5)}`, () => void response.end(token.slice(5)));
      },
    ],
    [
      'redirected to a forbidden address',
      'The address is not https on port 443',
      (response) => void response.writeHead(302, { location: `http://127.0.0.1:${portOf(forbidden)}/` }).end(),
    ],
    [
      'redirected to the metadata of a cloud',
      'The address is not https on port 443',
      (response) => void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    ],
    [
      'redirected to a private address',
      'The address is not on the public internet',
      (response) => void response.writeHead(302, { location: 'https://10.0.0.1/' }).end(),
    ],
  ];
  const started = await scene.started('bittern', withAttachments);
  const other = addHostedFile('/user-attachments/files/2/y.txt');
  const addressOf = (n: number): string => `${scene.host.url}/user-attachments/files/1/${n}.txt`;
  const textOf = (n: number, y: string): string => `[x](${addressOf(n)}?jwt=s3cret) [y](${y})`;
  scene.host.put(
    started.repository,
    'issues',
    cases.map((_, n) => issue(n + 1, textOf(n, other))),
  );
  scene.host.answer = (request, response) => {
    const n = /^\/user-attachments\/files\/1\/(\d+)\.txt/.exec(request.url!)?.[1];
    if (n === undefined) return false;
    response.on('error', () => undefined);
    cases[Number(n)]![2](response);
    return true;
  };
  await scene.run(started.importId);
  expect(listSentTexts(started)).toEqual(cases.map((_, n) => textOf(n, '/uploads/0/y.txt')));
  const shown = await showImport(started);
  const count = cases.length;
  expect(shown).toMatchObject({
    import_status: 'finished',
    stats: { fetched: { attachment: 2 * count, issue: count }, imported: { attachment: count, issue: count } },
  });
  expect(shown.failed_relations.map((one) => [one.relation_name, one.exception_message])).toEqual(
    cases.map(([, message], n) => ['attachment', expect.stringContaining(`#${n + 1}: ${addressOf(n)}: ${message}`)]),
  );
  expect(scene.inside.files.map(({ filename }) => filename)).toEqual(['y.txt']);
  expect(forbiddenConnections).toBe(0);
});

const destroyFileRequest = (request: IncomingMessage): boolean => {
  if (!request.url!.startsWith('/user-attachments/')) return false;
  request.socket.destroy();
  return true;
};

it('asks a host that does not answer no longer than for a few files, and leaves their links in the last try', async () => {
  const started = await scene.started('dunlin', withAttachments);
  scene.host.put(started.repository, 'issues', [issue(1, manyFiles(8).join(' '))]);
  scene.host.answer = destroyFileRequest;
  await scene.run(started.importId);
  expect(await showImport(started)).toMatchObject({ import_status: 'started', failed_relations: [] });
  await scene.run(started.importId, 4);
  const messages = (await showImport(started)).failed_relations.map((one) => one.exception_message.split(': ').at(-1));
  expect(messages).toEqual([
    ...Array.from({ length: 5 }, () => expect.stringContaining('cannot be reached')),
    ...Array.from({ length: 3 }, () => 'The host did not send the files before this one.'),
  ]);
});

it('stores all files of a host that answers again in a later try', async () => {
  const started = await scene.started('curlew', withAttachments);
  const addresses = manyFiles(7);
  for (const address of addresses) addHostedFile(new URL(address).pathname);
  scene.host.put(started.repository, 'issues', [issue(1, addresses.join(' '))]);
  scene.host.answer = destroyFileRequest;
  await scene.run(started.importId);
  scene.host.answer = null;
  await scene.run(started.importId, 2);
  expect(scene.inside.files).toHaveLength(7);
  expect(await showImport(started)).toMatchObject({ import_status: 'finished', failed_relations: [] });
});

it('goes on with a host that answers, whatever the answers are', async () => {
  const started = await scene.started('godwit', withAttachments);
  const addresses = manyFiles(7);
  addHostedFile(new URL(addresses.pop()!).pathname);
  const location = `http://127.0.0.1:${portOf(forbidden)}/`;
  for (const address of addresses) addHostedFile(new URL(address).pathname, { location });
  scene.host.put(started.repository, 'issues', [issue(1, [...addresses, manyFiles(7)[6]].join(' '))]);
  await scene.run(started.importId);
  expect(scene.inside.files.map(({ filename }) => filename)).toEqual(['6.txt']);
  expect((await showImport(started)).failed_relations).toHaveLength(6);
});
