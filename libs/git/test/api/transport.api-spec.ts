import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fetchRemote } from '../../src/transport/fetch-remote';
import { openArchive } from '../../src/transport/archive';
import type { ArchiveFormat } from '../../src/transport/archive';
import { openDiff, openEmailPatches } from '../../src/history/diffs';
import type { RunningGit } from '../../src/process/git-run';
import { receivePack } from '../../src/transport/pack-services';
import { PushHooks } from '../../src/transport/push-hooks';
import type { Push, PushChecks } from '../../src/transport/push-hooks';
import { readObject } from '../../src/objects/objects';
import { readRef } from '../../src/refs/refs';
import type { Repository } from '../../src/repository/repository';
import { NO_OBJECT } from '../../src/names/object-id';
import { client } from '../support/client';
import { deltaBomb, line, thinPush } from '../support/pack';
import { SmartHttp } from '../support/smart-http';
import { commit, git, TestGit, until } from '../support/repository';

const test = new TestGit();
const reported: unknown[] = [];
const hooks = new PushHooks((error) => reported.push(error));
const servers: SmartHttp[] = [];
beforeAll(() => hooks.start());
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(async () => {
  await hooks.stop();
  test.close();
});

let count = 0;
async function startServer(checks?: PushChecks): Promise<{ repository: Repository; server: SmartHttp; work: string }> {
  const repository = await test.create();
  const server = await new SmartHttp(repository, hooks, checks).start();
  servers.push(server);
  count += 1;
  const work = join(test.folder, `work${count}`);
  mkdirSync(work);
  return { repository, server, work };
}

/** A working copy with one commit on main. */
async function commitInWorkingCopy(server: SmartHttp, work: string): Promise<void> {
  await client(work, 'init', '-q', '-b', 'main', '.');
  await client(work, 'remote', 'add', 'origin', server.url);
  writeFileSync(join(work, 'a.txt'), 'first\n');
  await client(work, 'add', '.');
  await client(work, 'commit', '-qm', 'First');
}

const listTemporaryObjects = (repository: Repository) =>
  readdirSync(join(repository.directory, 'objects')).filter((name) => name.startsWith('tmp_'));

describe('fetches', () => {
  it.each(['0', '1', '2'])('are served by protocol %s, with nothing hidden in them', async (version) => {
    const { repository, server, work } = await startServer();
    const id = commit(repository, { 'a.txt': 'hello\n' });
    for (const ref of ['refs/keep-around/x', 'refs/pipelines/1', 'refs/merge-requests/1/head'])
      git(repository.directory, ['update-ref', ref, id]);
    const { code, output } = await client(work, '-c', `protocol.version=${version}`, 'clone', '-q', server.url, 'copy');
    expect({ code, output }).toEqual({ code: 0, output: '' });
    const { output: refs } = await client(work, '-c', `protocol.version=${version}`, 'ls-remote', server.url);
    expect(refs.split('\n').map((line) => line.split('\t')[1])).toEqual([
      'HEAD',
      'refs/heads/main',
      'refs/merge-requests/1/head',
      undefined,
    ]);
    expect(server.failures).toEqual([]);
  });

  it('of an empty repository, a shallow and a partial one work', async () => {
    const { repository, server, work } = await startServer();
    expect((await client(work, 'clone', server.url, 'empty')).output).toContain('empty repository');
    for (const text of ['1', '2', '3']) commit(repository, { 'a.txt': text });
    expect([await client(work, 'clone', '-q', '--depth=1', server.url, 'shallow'), server.failures]).toEqual([
      { code: 0, output: '' },
      [],
    ]);
    const version0 = await client(work, '-c', 'protocol.version=0', 'clone', '-q', '--depth=1', server.url, 'shallow0');
    expect([version0, server.failures]).toEqual([{ code: 0, output: '' }, []]);
    expect((await client(work, 'clone', '-q', '--filter=blob:none', server.url, 'partial')).code).toBe(0);
    expect((await client(join(work, 'shallow'), 'rev-list', '--count', 'HEAD')).output).toBe('1\n');
  });

  it('ignore a protocol header that is none', async () => {
    const { repository, server } = await startServer();
    commit(repository, { a: 'a' });
    for (const protocol of ["version=2' $(touch x)", 'version=2:Other']) {
      const headers = { 'git-protocol': protocol };
      const answer = await fetch(`${server.url}/info/refs?service=git-upload-pack`, { headers });
      expect(await answer.text()).toMatch(/^001e# service=git-upload-pack\n0000/);
    }
  });

  it('of twenty clients at once share the slots, and this process holds no pack in memory', async () => {
    const { repository, server, work } = await startServer();
    commit(
      repository,
      Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`f${index}`, randomBytes(2_000_000)])),
    );
    // The heap and buffers of this process, not of git; the packs are 320 MB in all.
    let most = 0;
    const before = process.memoryUsage();
    const timer = setInterval(() => {
      const now = process.memoryUsage();
      most = Math.max(most, now.arrayBuffers + now.heapUsed - before.arrayBuffers - before.heapUsed);
    }, 5);
    const clones = await Promise.all(
      Array.from({ length: 20 }, (_, index) => client(work, 'clone', '-q', '--bare', server.url, `c${index}`)),
    );
    clearInterval(timer);
    expect(clones.map(({ code }) => code)).toEqual(clones.map(() => 0));
    expect(most).toBeLessThan(150_000_000);
    expect(test.processes.slots.transport.load).toEqual({ running: 0, waiting: 0 });
  });

  it('end with their client', async () => {
    const { repository, server } = await startServer();
    const id = commit(repository, { large: randomBytes(30_000_000) });
    const body = `0032want ${id}\n00000009done\n`;
    const answer = await fetch(`${server.url}/git-upload-pack`, { method: 'POST', body });
    const reader = answer.body!.getReader();
    await reader.read();
    expect(test.processes.slots.transport.load.running).toBe(1);
    await reader.cancel();
    await until(() => test.processes.slots.transport.load.running === 0);
  });
});

describe('pushes', () => {
  it('are checked with their new objects before a ref moves, and reported afterwards', async () => {
    const seen: unknown[] = [];
    const checks: PushChecks = {
      beforeUpdate: async ({ updates, quarantined, options }: Push) => {
        const [update] = updates;
        const file = await readObject(quarantined, { rev: update!.newId, path: 'a.txt' });
        seen.push({ update, options, file: file?.content.toString(), ref: await readRef(quarantined, update!.ref) });
        return null;
      },
      afterUpdate: async ({ updates }) => {
        seen.push({ ref: await readRef(repository, updates[0]!.ref) });
        return 'View it at https://example.org.';
      },
    };
    const { repository, server, work } = await startServer(checks);
    await commitInWorkingCopy(server, work);
    const { output } = await client(work, 'push', '-o', 'ci.skip', '-o', 'title=wörk "x", $(id)', 'origin', 'main');
    const id = git(work, ['rev-parse', 'main']).trim();
    expect(output).toContain('remote: View it at https://example.org.');
    expect(seen).toEqual([
      {
        update: { ref: 'refs/heads/main', oldId: NO_OBJECT, newId: id },
        options: ['ci.skip', 'title=wörk "x", $(id)'],
        file: 'first\n',
        ref: null,
      },
      { ref: id },
    ]);
    expect(git(repository.directory, ['fsck', '--strict'])).toBe('');
    expect(listTemporaryObjects(repository)).toEqual([]);
  });

  it('are refused with the text, and leave nothing', async () => {
    const { repository, server, work } = await startServer({
      beforeUpdate: async () => 'Rookery: You are not allowed to push; "$(touch /tmp/x)" `id` ü.',
    });
    await commitInWorkingCopy(server, work);
    const { code, output } = await client(work, 'push', 'origin', 'main');
    expect(code).toBe(1);
    expect(output).toContain('remote: Rookery: You are not allowed to push; "$(touch /tmp/x)" `id` ü.');
    expect(output).toContain('pre-receive hook declined');
    expect(await readRef(repository, 'refs/heads/main')).toBeNull();
    expect(git(repository.directory, ['count-objects', '-v'])).toMatch(/count: 0\n[^]*in-pack: 0\n/);
    expect(listTemporaryObjects(repository)).toEqual([]);
  });

  it('are refused if the check fails, or nobody answers', async () => {
    const { server, work } = await startServer({
      beforeUpdate: async () => Promise.reject(new Error('the database is away')),
    });
    await commitInWorkingCopy(server, work);
    expect((await client(work, 'push', 'origin', 'main')).output).toContain(
      'remote: Rookery: The push could not be checked.',
    );
    expect(reported.map(String)).toContain('Error: the database is away');
    const gone = new PushHooks(() => undefined);
    await gone.start();
    const { repository, server: silent, work: other } = await startServer();
    Object.assign(silent, { hooks: gone });
    await commitInWorkingCopy(silent, other);
    await gone.stop();
    expect((await client(other, 'push', 'origin', 'main')).output).toContain(
      'remote: Rookery: The push could not be checked.',
    );
    expect(await readRef(repository, 'refs/heads/main')).toBeNull();
  });

  it('are refused if the decision takes too long, which ends the work for it', async () => {
    const slow = new PushHooks((error) => reported.push(error), undefined, 50);
    await slow.start();
    const endings: string[] = [];
    const { repository, server, work } = await startServer({
      beforeUpdate: ({ signal }) =>
        new Promise((_, fail) => {
          signal.addEventListener('abort', () => {
            endings.push(String(signal.reason));
            fail(signal.reason);
          });
        }),
    });
    Object.assign(server, { hooks: slow });
    await commitInWorkingCopy(server, work);
    const { code, output } = await client(work, 'push', 'origin', 'main');
    await slow.stop();
    expect([code, output]).toEqual([1, expect.stringContaining('remote: Rookery: Push operation timed out.')]);
    expect(endings).toEqual(['Error: The decision about the push took too long.']);
    expect(await readRef(repository, 'refs/heads/main')).toBeNull();
    expect(listTemporaryObjects(repository)).toEqual([]);
  });

  it('do not reach hidden refs, hostile trees or the size limit', async () => {
    const { repository, server, work } = await startServer();
    await commitInWorkingCopy(server, work);
    await client(work, 'push', '-q', 'origin', 'main');
    for (const ref of ['refs/merge-requests/1/head', 'refs/keep-around/x'])
      expect((await client(work, 'push', 'origin', `main:${ref}`)).output).toContain('deny updating a hidden ref');
    const blob = git(work, ['hash-object', '-w', '--stdin'], 'x').trim();
    for (const name of ['.git', '.GIT', '.g\u200cit', 'git~1']) {
      const tree = git(work, ['mktree'], `100644 blob ${blob}\t${name}\n`).trim();
      const bad = git(work, ['commit-tree', tree, '-m', 'bad']).trim();
      const { output } = await client(work, 'push', 'origin', `${bad}:refs/heads/bad`);
      expect(output).toMatch(/hasDotgit|unpacker error/);
    }
    writeFileSync(join(work, 'bomb'), randomBytes(3_000_000));
    await client(work, 'add', '.');
    await client(work, 'commit', '-qm', 'Bomb');
    const small = new TestGit({ pushBytes: 1_000_000 });
    const limited = await small.create();
    const narrow = await new SmartHttp(limited, hooks).start();
    servers.push(narrow);
    const { output } = await client(work, 'push', narrow.url, 'main');
    expect(output).toMatch(/exceeds maximum allowed size|unpacker error|RPC failed/);
    expect(listTemporaryObjects(limited)).toEqual([]);
    expect(await readRef(repository, 'refs/heads/bad')).toBeNull();
    small.close();
  });

  it('with ref names that cannot be read are refused', async () => {
    const seen: string[] = [];
    const { repository, server, work } = await startServer({
      beforeUpdate: async ({ updates }) => (seen.push(...updates.map(({ ref }) => ref)), null),
    });
    await commitInWorkingCopy(server, work);
    const id = git(work, ['rev-parse', 'main']).trim();
    const pack = git(work, ['pack-objects', '--stdout', '--revs', '-q'], 'main\n', 'latin1');
    const names = ['refs/heads/ma\xefn', `refs/heads/${'x/'.repeat(200)}x`, 'refs/heads/refs/heads/main'];
    for (const name of names) {
      const body = Buffer.from(`${line(`${NO_OBJECT} ${id} ${name}\0 report-status`)}0000${pack}`, 'latin1');
      const answer = await fetch(`${server.url}/git-receive-pack`, { method: 'POST', body });
      expect(await answer.text()).toContain('pre-receive hook declined');
    }
    expect(seen).toEqual([]);
    expect(git(repository.directory, ['for-each-ref'])).toBe('');
  });

  it('with a certificate or an endless list of refs end before anything is written', async () => {
    const { repository, server, work } = await startServer({ beforeUpdate: async () => 'no' });
    await commitInWorkingCopy(server, work);
    const id = git(work, ['rev-parse', 'main']).trim();
    const pack = git(work, ['pack-objects', '--stdout', '--revs', '-q'], 'main\n', 'latin1');
    const update = `${NO_OBJECT} ${id} refs/heads/main`;
    const certificate = [
      'push-cert\0 report-status',
      'certificate version 0.1\n',
      'pusher x <x@y> 1 +0000\n',
      '\n',
      `${update}\n`,
      '-----BEGIN SIGNED MESSAGE-----\n',
      'push-cert-end\n',
    ];
    const endless = `${line(`${NO_OBJECT} ${id} refs/heads/${'x'.repeat(60_000)}`)}`.repeat(150);
    const lists = [certificate.map(line).join(''), endless, 'zzzz'];
    for (const list of lists) {
      const body = Buffer.from(`${list}0000${pack}`, 'latin1');
      await fetch(`${server.url}/git-receive-pack`, { method: 'POST', body })
        .then((answer) => answer.text())
        .catch(() => undefined);
    }
    // A client may have its answer before the server knows how git ended.
    await until(() => server.failures.length === lists.length);
    expect(server.failures).toMatchObject([{ reason: 'invalid' }, { reason: 'too large' }, { reason: 'invalid' }]);
    expect(git(repository.directory, ['count-objects', '-v'])).toMatch(/count: 0\n[^]*in-pack: 0\n/);
    expect(listTemporaryObjects(repository)).toEqual([]);
  });

  it('whose client is gone in the middle leave no process and no file', async () => {
    const { repository, server, work } = await startServer({ beforeUpdate: async () => 'no' });
    await commitInWorkingCopy(server, work);
    writeFileSync(join(work, 'large'), randomBytes(2_000_000));
    await client(work, 'add', '.');
    await client(work, 'commit', '-qm', 'Large');
    const id = git(work, ['rev-parse', 'main']).trim();
    const pack = git(work, ['pack-objects', '--stdout', '--revs', '-q'], 'main\n', 'latin1');
    const sent = httpRequest(`${server.url}/git-receive-pack`, { method: 'POST' });
    sent.on('error', () => undefined);
    sent.write(line(`${NO_OBJECT} ${id} refs/heads/main\0 report-status`) + '0000');
    sent.write(Buffer.from(pack, 'latin1').subarray(0, 1_000_000));
    await until(() => listTemporaryObjects(repository).length > 0);
    expect(test.processes.slots.transport.load.running).toBe(1);
    sent.destroy();
    await until(() => test.processes.slots.transport.load.running === 0);
    expect(listTemporaryObjects(repository)).toEqual([]);
    expect(git(repository.directory, ['count-objects', '-v'])).toMatch(/count: 0\n[^]*in-pack: 0\n/);
  });

  it('do not grow on disk beyond their pack', async () => {
    const { repository, server, work } = await startServer();
    await commitInWorkingCopy(server, work);
    const { request, bytes } = deltaBomb(12, 20);
    const answer = await fetch(`${server.url}/git-receive-pack`, { method: 'POST', body: request });
    expect(await answer.text()).toContain('unpack ok');
    const objects = join(repository.directory, 'objects');
    const sizes = (readdirSync(objects, { recursive: true }) as string[]).map(
      (name) => statSync(join(objects, name)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(2 * request.length);
    expect(bytes).toBeGreaterThan(100 * request.length);
  });

  it('that git completes with old objects are measured and bounded', async () => {
    const stored: number[] = [];
    const checks = { beforeUpdate: async (push: Push) => (stored.push(push.storedBytes), null) };
    const small = new TestGit({ pushBytes: 1_000_000 });
    const repository = await small.create();
    const content = randomBytes(9_000_000);
    const bases = Array.from({ length: 8 }, (_, index) => {
      const version = Buffer.concat([Buffer.from(String(index)), content]);
      return { id: git(repository.directory, ['hash-object', '-w', '--stdin'], version).trim(), content: version };
    });
    const reportOf = async (input: Buffer) => {
      const ticket = hooks.expectPush(repository, checks);
      const push = await receivePack(repository, { input: Readable.from([input]), ticket });
      return Buffer.concat(await push.stdout.toArray()).toString();
    };
    expect(await reportOf(thinPush(bases.slice(0, 1)))).toContain('unpack ok');
    expect(stored).toEqual([expect.any(Number)]);
    expect(stored[0]).toBeGreaterThan(9_000_000);
    expect(await reportOf(thinPush(bases))).toMatch(/unpack index-pack abnormal exit/);
    expect([stored.length, listTemporaryObjects(repository)]).toEqual([1, []]);
    small.close();
  });

  it('have the limit of the service, whatever quota is left', async () => {
    const small = new TestGit({ pushBytes: 1_000_000 });
    const repository = await small.create();
    const ticket = hooks.expectPush(repository, { beforeUpdate: async () => null });
    const { request } = deltaBomb(1, 1, 1_500_000);
    const push = await receivePack(repository, { input: Readable.from([request]), ticket, maxPackBytes: 1e9 });
    const report = Buffer.concat(await push.stdout.toArray()).toString();
    expect(report).toMatch(/unpack .*(?:abnormal|exit)/);
    small.close();
  });

  it('are not served if a hook program cannot be executed', async () => {
    const folder = join(test.folder, 'programs');
    mkdirSync(folder);
    for (const name of ['pre-receive', 'post-receive', 'ask.cjs'])
      writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: name === 'pre-receive' ? 0o644 : 0o755 });
    await expect(new PushHooks(() => undefined, folder).start()).rejects.toMatchObject({ code: 'EACCES' });
    await expect(new PushHooks(() => undefined, join(folder, 'none')).start()).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  it('that meet a lock do not learn the folder of the repository', async () => {
    const { repository, server, work } = await startServer();
    await commitInWorkingCopy(server, work);
    await client(work, 'push', '-q', 'origin', 'main');
    writeFileSync(join(repository.directory, 'refs/heads/locked.lock'), '');
    const { output } = await client(work, 'push', 'origin', 'main:locked');
    expect(output).toContain("Unable to create './refs/heads/locked.lock': File exists.");
    expect(output).toContain('[remote rejected] main -> locked (failed to update ref)');
    expect(output).not.toMatch(/@hashed|rookery-git/);
  });

  it('with more options than a hook can take are refused', async () => {
    const { repository, server, work } = await startServer();
    await commitInWorkingCopy(server, work);
    const id = git(work, ['rev-parse', 'main']).trim();
    const pack = git(work, ['pack-objects', '--stdout', '--revs', '-q'], 'main\n', 'latin1');
    const command = line(`${NO_OBJECT} ${id} refs/heads/main\0 report-status push-options`);
    const body = Buffer.from(`${command}0000${line('x'.repeat(60_000)).repeat(80)}0000${pack}`, 'latin1');
    const answer = await fetch(`${server.url}/git-receive-pack`, { method: 'POST', body });
    expect(await answer.text()).toContain('pre-receive hook declined');
    expect(await readRef(repository, 'refs/heads/main')).toBeNull();
  });

  it('of a probe and of a deletion run without a quarantine', async () => {
    const { repository, server, work } = await startServer();
    await commitInWorkingCopy(server, work);
    await client(work, 'push', '-q', 'origin', 'main', 'main:gone');
    const probe = await fetch(`${server.url}/git-receive-pack`, { method: 'POST', body: '0000' });
    expect(probe.status).toBe(200);
    await probe.text();
    expect((await client(work, 'push', '-q', 'origin', ':gone')).code).toBe(0);
    expect(await readRef(repository, 'refs/heads/gone')).toBeNull();
  });
});

describe('archives and patches', () => {
  it.each<[ArchiveFormat, string]>([
    ['tar', 'ustar'],
    ['tar.gz', '\x1f\x8b'],
    ['tar.bz2', 'BZh'],
    ['zip', 'PK'],
  ])('%s is whole and the same each time', async (format, magic) => {
    const repository = await test.create();
    const id = commit(repository, { 'dir/a.txt': 'hello', 'b.txt': 'x', '-o': 'dash' });
    const read = async () =>
      Buffer.concat(
        await (
          await openArchive(repository, { commit: id, format, prefix: '-p-main', paths: ['dir', '-o'] })
        ).stdout.toArray(),
      );
    const [first, second] = [await read(), await read()];
    expect(first.equals(second)).toBe(true);
    expect(format === 'tar' ? first.includes(magic) : first.toString('latin1').startsWith(magic)).toBe(true);
    if (format === 'tar')
      expect(execFileSync('tar', ['tf', '-'], { input: first }).toString()).toBe(
        '-p-main/\n-p-main/-o\n-p-main/dir/\n-p-main/dir/a.txt\n',
      );
  });

  it('fail for what is not there, and refuse odd folders', async () => {
    const repository = await test.create();
    const id = commit(repository, { a: 'a' });
    const missing = await openArchive(repository, { commit: id, format: 'tar', prefix: 'p', paths: ['none'] });
    await expect(missing.stdout.toArray()).rejects.toMatchObject({ reason: 'not found' });
    for (const prefix of ['../x', '/x', 'a\0b', ''])
      expect(() => openArchive(repository, { commit: id, format: 'tar', prefix })).toThrow('invalid');
  });

  it('stream diffs within a bound', async () => {
    const repository = await test.create();
    const oldId = commit(repository, { a: 'one\n' });
    const newId = commit(repository, { a: 'two\n' });
    const text = async (running: Promise<RunningGit>) =>
      Buffer.concat(await (await running).stdout.toArray()).toString();
    expect(await text(openDiff(repository, { oldId, newId, maxBytes: 1000 }))).toContain('@@ -1 +1 @@\n-one\n+two\n');
    expect(await text(openEmailPatches(repository, { from: oldId, to: newId, maxBytes: 10_000 }))).toContain(
      'Subject: [PATCH] Change',
    );
    const cut = await openDiff(repository, { oldId, newId, maxBytes: 50 });
    await expect(cut.stdout.toArray()).rejects.toMatchObject({ reason: 'too large' });
  });
});

describe('fetches from a server that a user named', () => {
  const pinned = (server: SmartHttp) => ({
    url: `http://upstream.invalid:${server.port}/p.git`,
    addresses: ['127.0.0.1'],
    mayUseHttp: true,
    maxBytes: 10_000_000,
    maxMs: 60_000,
  });

  it('copy branches and tags from the pinned address, with credentials that no process shows', async () => {
    const { repository, server } = await startServer();
    const id = commit(repository, { a: 'a' });
    git(repository.directory, ['update-ref', 'refs/tags/v1', id]);
    git(repository.directory, ['update-ref', 'refs/merge-requests/1/head', id]);
    server.authorization = `Basic ${Buffer.from('oauth2:s3cret').toString('base64')}`;
    const scratch = await test.create();
    await expect(fetchRemote(scratch, pinned(server))).rejects.toMatchObject({ reason: 'remote' });
    await fetchRemote(scratch, { ...pinned(server), credentials: { user: 'oauth2', password: 's3cret' } });
    expect(git(scratch.directory, ['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/main\nrefs/tags/v1\n');
  });

  it('follow no redirect', async () => {
    const { server } = await startServer();
    const { server: inside } = await startServer();
    server.redirectTo = `http://127.0.0.1:${inside.port}`;
    await expect(fetchRemote(await test.create(), pinned(server))).rejects.toMatchObject({ reason: 'remote' });
    expect(inside.requests).toBe(0);
  });

  it.each([
    'ext::sh -c id',
    'file:///etc',
    '/etc',
    '--upload-pack=id',
    'ssh://h/p',
    'git://h/p',
    'http://h/p',
    'https://u:p@h/p',
    'https://h/p?x',
    'https://h/a b',
    'https://h/\n',
    'https://-x.localhost/p',
    'https://+x.localhost/p',
    'https://*.localhost/p',
    'https://a%2cb.localhost/p',
  ])('refuse %j', async (url) => {
    const scratch = test.repositories.open(test.nextAddress());
    await expect(
      fetchRemote(scratch, { url, addresses: ['127.0.0.1'], maxBytes: 1e6, maxMs: 1000 }),
    ).rejects.toMatchObject({ reason: 'invalid' });
  });

  it('ask no address that an answer names', async () => {
    const { server: inside, repository } = await startServer();
    const id = '1'.repeat(40);
    const upstream = createServer((request, response) => {
      const advertises = request.url!.includes('/info/refs');
      response.setHeader('content-type', `application/x-git-upload-pack-${advertises ? 'advertisement' : 'result'}`);
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.once('end', () => {
        if (advertises) {
          return response.end(`${['version 2', 'ls-refs', 'fetch', 'object-format=sha1'].map(line).join('')}0000`);
        }
        if (body.includes('command=ls-refs')) return response.end(`${line(`${id} refs/heads/main\n`)}0000`);
        const pack = git(repository.directory, ['pack-objects', '--stdout', '-q'], '', 'latin1');
        const lines = ['packfile-uris\n', `${id} ${inside.url}`, 'packfile\n', `\x01${pack}`].map(line);
        return response.end(Buffer.from(lines.toSpliced(2, 0, '0001').join('') + '0000', 'latin1'));
      });
    });
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
    const { port } = upstream.address() as AddressInfo;
    const scratch = await test.create();
    await fetchRemote(scratch, { ...pinned(inside), url: `http://upstream.invalid:${port}/p.git` }).catch(
      () => undefined,
    );
    upstream.closeAllConnections();
    upstream.close();
    expect(inside.requests).toBe(0);
  });

  it('take no plain files, which git would not check', async () => {
    const { repository } = await startServer();
    commit(repository, { a: 'a' });
    git(repository.directory, ['update-server-info']);
    const upstream = createServer((request, response) => {
      const path = request.url!.split('?')[0]!.replace('/p.git', repository.directory);
      if (existsSync(path)) response.end(readFileSync(path));
      else response.writeHead(404).end();
    });
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
    const { port } = upstream.address() as AddressInfo;
    const scratch = await test.create();
    const fetching = fetchRemote(scratch, {
      url: `http://upstream.invalid:${port}/p.git`,
      addresses: ['127.0.0.1'],
      mayUseHttp: true,
      maxBytes: 1e6,
      maxMs: 10_000,
    });
    await expect(fetching).rejects.toMatchObject({ name: 'GitError' });
    upstream.closeAllConnections();
    upstream.close();
    expect(git(scratch.directory, ['for-each-ref'])).toBe('');
  });

  it('are whole, and refuse a history that is not', async () => {
    const { repository, server } = await startServer();
    for (const text of ['1', '2', '3']) commit(repository, { a: text });
    const scratch = await test.create();
    await fetchRemote(scratch, pinned(server));
    expect([
      existsSync(join(scratch.directory, 'shallow')),
      git(scratch.directory, ['rev-list', '--count', 'main']),
    ]).toEqual([false, '3\n']);
    expect(git(scratch.directory, ['count-objects', '-v'])).toMatch(/packs: 1\n/);
    const [tip] = git(repository.directory, ['rev-list', 'main']).split('\n');
    writeFileSync(join(repository.directory, 'shallow'), `${tip}\n`);
    await expect(fetchRemote(await test.create(), pinned(server))).rejects.toMatchObject({ reason: 'remote' });
  });

  it('are cut off at their size', async () => {
    const { repository, server } = await startServer();
    commit(repository, { a: randomBytes(3_000_000) });
    const scratch = await test.create();
    await expect(fetchRemote(scratch, { ...pinned(server), maxBytes: 1_000_000 })).rejects.toMatchObject({
      reason: 'too large',
    });
    expect(await readRef(scratch, 'refs/heads/main')).toBeNull();
  });
});
