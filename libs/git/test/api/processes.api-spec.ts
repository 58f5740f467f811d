import { spawn } from 'node:child_process';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { blameFile } from '../../src/history/history';
import { listChangesWithLineCounts } from '../../src/history/diffs';
import { NO_OBJECT } from '../../src/names/object-id';
import type { ObjectId } from '../../src/names/object-id';
import { readObject } from '../../src/objects/objects';
import { gitProblem } from '../../src/process/version';
import { updateRefs } from '../../src/refs/update-refs';
import { refName } from '../../src/names/ref-name';
import type { Repository } from '../../src/repository/repository';
import { mergeCommitsToTree } from '../../src/history/merges';
import { openArchive } from '../../src/transport/archive';
import { openAdvertisement, receivePack, uploadPack } from '../../src/transport/pack-services';
import { commit, git, TestGit, until } from '../support/repository';

const test = new TestGit();
afterAll(() => test.close());

/** Processes whose working directory is in a folder: every process of git for a repository. */
function listProcessesIn(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

/** Lock files, temporary objects and temporary packs. */
function listTemporaryFiles(repository: Repository): string[] {
  const all = readdirSync(repository.directory, { recursive: true }) as string[];
  return all.filter((name) => /\.lock$|(?:^|\/)tmp_|\.temp$/.test(name));
}

async function createLargeRepository(): Promise<{
  repository: Repository;
  other: Repository;
  id: ObjectId;
  pack: string;
}> {
  const [repository, other] = [await test.create(), await test.create()];
  const id = commit(repository, { large: randomBytes(20_000_000), small: 'x' });
  git(repository.directory, ['repack', '-adq']);
  const folder = join(repository.directory, 'objects/pack');
  return {
    repository,
    other,
    id,
    pack: join(
      folder,
      readdirSync(folder).find((name) => name.endsWith('.pack'))!,
    ),
  };
}

const toPacketLine = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;

describe('a caller', () => {
  it('that is killed leaves no process and no lock, and no file beyond the next sweep', async () => {
    const { repository, other, id, pack } = await createLargeRepository();
    const hook = join(__dirname, '../../../../tools/jest/typescript-hook.cjs');
    const args = [
      '-r',
      hook,
      join(__dirname, '../support/killed-caller.ts'),
      repository.directory,
      other.directory,
      pack,
      id,
    ];
    const caller = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => caller.stdout.once('data', resolve));
    await until(
      () =>
        listTemporaryFiles(repository).some((name) => name.endsWith('locked.lock')) &&
        listTemporaryFiles(other).length > 0,
    );
    expect(listProcessesIn(repository.directory).length).toBeGreaterThanOrEqual(5);
    caller.kill('SIGKILL');
    await until(() => [repository, other].every(({ directory }) => listProcessesIn(directory).length === 0));
    // receive-pack dies of its report, which has no reader, and cannot remove its folder; the sweep does.
    expect(listTemporaryFiles(repository)).toEqual([]);
    expect(listTemporaryFiles(other).filter((name) => !name.startsWith('objects/tmp_objdir-incoming-'))).toEqual([]);
    await test.repositories.sweep('default', 0);
    expect([listTemporaryFiles(repository), listTemporaryFiles(other)]).toEqual([[], []]);
    expect(git(repository.directory, ['fsck', '--strict'])).toBe('');
  });

  it('that goes away in the middle leaves none of them either', async () => {
    const { repository, other, id, pack } = await createLargeRepository();
    const ending = new AbortController();
    const { signal } = ending;
    const clone = await uploadPack(repository, {
      input: Readable.from([`${toPacketLine(`want ${id} ofs-delta\n`)}0000${toPacketLine('done\n')}`]),
      signal,
    });
    const input = new PassThrough();
    input.write(`${toPacketLine(`${NO_OBJECT} ${id} refs/heads/main\0 report-status`)}0000`);
    createReadStream(pack, { end: 2_000_000 }).pipe(input, { end: false });
    const push = await receivePack(other, {
      input,
      ticket: { variables: {}, config: [], close: () => undefined },
      signal,
    });
    const transaction = await repository.open({ args: ['update-ref', '--stdin'], stdin: 'pipe', signal });
    transaction.stdin!.write(`start\ncreate refs/heads/locked ${id}\nprepare\n`);
    await until(() => listTemporaryFiles(repository).length > 0 && listTemporaryFiles(other).length > 0);
    ending.abort(new Error('gone'));
    for (const running of [clone, push, transaction]) await expect(running.ended).rejects.toThrow('gone');
    await until(() => [repository, other].every(({ directory }) => listProcessesIn(directory).length === 0));
    expect([listTemporaryFiles(repository), listTemporaryFiles(other)]).toEqual([[], []]);
    expect(test.processes.slots.transport.load).toEqual({ running: 0, waiting: 0 });
  });

  it('that stops reading the answer to a push ends it', async () => {
    const repository = await test.create();
    const id = commit(repository, { a: 'a' });
    const input = new PassThrough();
    input.write(`${toPacketLine(`${NO_OBJECT} ${id} refs/heads/x\0 report-status`)}0000`);
    const ticket = { variables: {}, config: [], close: () => undefined };
    const push = await receivePack(repository, { input, ticket });
    push.stdout.destroy();
    await expect(push.ended).rejects.toMatchObject({ reason: 'failed' });
    await until(() => listProcessesIn(repository.directory).length === 0);
  });

  it('whose input breaks is as if it had gone', async () => {
    const { repository } = await createLargeRepository();
    const input = new PassThrough();
    const running = await uploadPack(repository, { input });
    input.destroy(new Error('the client has gone'));
    await expect(running.ended).rejects.toThrow('the client has gone');
    const early = new PassThrough();
    early.once('error', () => undefined);
    early.destroy(new Error('gone before the start'));
    await new Promise(setImmediate);
    await expect((await uploadPack(repository, { input: early })).ended).rejects.toThrow('gone before the start');
  });
});

describe('limits', () => {
  it('end a command that takes too long or writes too much', async () => {
    const repository = await test.create();
    const id = commit(repository, { a: 'x'.repeat(100_000) });
    const slow = await repository.open({ args: ['cat-file', '--batch'], stdin: 'pipe', limits: { ms: 30 } });
    await expect(slow.ended).rejects.toMatchObject({ reason: 'timed out' });
    const silent = await repository.open({ args: ['cat-file', '--batch'], stdin: 'pipe', limits: { idleMs: 30 } });
    await expect(silent.ended).rejects.toMatchObject({ reason: 'timed out' });
    const wide = repository.run({ args: ['cat-file', 'blob', `${id}:a`], limits: { outputBytes: 1000 } });
    await expect(wide).rejects.toMatchObject({ reason: 'too large' });
    await until(() => listProcessesIn(repository.directory).length === 0);
  });

  it('of memory and files stop git itself', async () => {
    const small = new TestGit({ memoryBytes: 20_000_000 });
    const repository = await small.create();
    const oldId = commit(repository, { bomb: Buffer.alloc(45_000_000), fine: 'fine' });
    const newId = commit(repository, { bomb: Buffer.alloc(46_000_000, 'line\n'), fine: 'fine' });
    await expect(listChangesWithLineCounts(repository, { oldId, newId })).rejects.toMatchObject({
      reason: 'too large',
    });
    expect((await readObject(repository, { rev: newId, path: 'fine' }))?.content.toString()).toBe('fine');
    const written = repository.run({
      args: ['hash-object', '-w', '--stdin'],
      stdin: randomBytes(1_000_000),
      limits: { fileBytes: 10_000 },
    });
    await expect(written).rejects.toMatchObject({ reason: 'too large' });
    small.close();
  });

  it('of the kernel for arguments are an error of the library, and free the slot', async () => {
    const repository = await test.create();
    const newId = commit(repository, { a: 'a' });
    const paths = Array.from({ length: 2000 }, (_, index) => `${index}${'x'.repeat(4000)}`);
    await expect(listChangesWithLineCounts(repository, { oldId: null, newId, paths })).rejects.toMatchObject({
      reason: 'invalid',
    });
    expect(test.processes.slots.command.load).toEqual({ running: 0, waiting: 0 });
  });

  it('of processes make callers wait, then refuse', async () => {
    const slots = { total: 1, perRepository: 1, queued: 1, waitMs: 60_000 };
    const narrow = new TestGit({ slots: { command: slots, transport: slots, inside: slots } });
    const repository = await narrow.create();
    const held = await repository.open({ args: ['cat-file', '--batch'], stdin: 'pipe' });
    const waiting = repository.run({ args: ['for-each-ref'] });
    await expect(repository.run({ args: ['for-each-ref'] })).rejects.toMatchObject({
      name: 'GitBusy',
      reason: 'busy',
      retryAfterSeconds: 2,
    });
    held.stdin!.end();
    expect((await waiting).code).toBe(0);
    narrow.close();
  });
});

describe('the environment of git', () => {
  it('holds nothing of this process, and nothing of the repository starts a program', async () => {
    const canary = {
      GIT_DIR: '/nonexistent',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'alias.x',
      GIT_CONFIG_VALUE_0: '!true',
      http_proxy: 'http://canary',
      ROOKERY_CANARY: 'canary',
      GIT_TRACE: '1',
    };
    Object.assign(process.env, canary);
    const repository = await test.create();
    const mark = join(test.folder, 'started');
    const program = join(test.folder, 'program');
    writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> ${mark}\n`, { mode: 0o755 });
    for (const name of Object.keys(canary)) delete process.env[name];
    const oldId = commit(repository, { a: 'a\n', '.gitattributes': '* diff=evil merge=evil filter=evil\n' });
    const newId = commit(repository, { a: 'b\n', '.gitattributes': '* diff=evil merge=evil filter=evil\n' });
    const rival = commit(repository, { a: 'c\n' }, { branch: 'rival', parents: [oldId] });
    Object.assign(process.env, canary);
    mkdirSync(join(repository.directory, 'hooks'));
    for (const hook of ['reference-transaction', 'pre-receive', 'update', 'post-update'])
      writeFileSync(join(repository.directory, 'hooks', hook), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    const programs = [
      'core.fsmonitor',
      'core.sshCommand',
      'core.pager',
      'diff.external',
      'credential.helper',
      'gpg.program',
      'uploadpack.packObjectsHook',
      'core.editor',
    ];
    const sections = programs.map((name) => `[${name.split('.')[0]}]\n\t${name.split('.')[1]} = ${program}\n`).join('');
    const named = [
      ['tar "tar.gz"', 'command'],
      ['gpg "x509"', 'program'],
      ['diff "evil"', 'textconv'],
      ['diff "evil"', 'command'],
      ['filter "evil"', 'smudge'],
      ['filter "evil"', 'required'],
      ['filter "e\\"v"', 'process'],
      ['merge "evil"', 'driver'],
      ['core', 'alternateRefsCommand'],
    ].map(([section, name]) => `[${section}]\n\t${name} = ${name === 'required' ? 'true' : program}\n`);
    const config = `${sections}${named.join('')}[core]\n\tbare = true\n\thooksPath = hooks\n`;
    writeFileSync(join(repository.directory, 'config'), config);
    mkdirSync(join(repository.directory, 'info'), { recursive: true });
    writeFileSync(join(repository.directory, 'info/attributes'), 'a diff=evil merge=evil filter=evil\n');
    const other = await test.create();
    mkdirSync(join(repository.directory, 'objects/info'), { recursive: true });
    writeFileSync(join(repository.directory, 'objects/info/alternates'), `${other.directory}/objects\n`);

    const open = await repository.open({ args: ['cat-file', '--batch'], stdin: 'pipe' });
    const [pid] = listProcessesIn(repository.directory);
    await until(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('git\0'));
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(environment.filter((entry) => /canary|TRACE|proxy|NODE|LD_/i.test(entry))).toEqual([]);
    expect(environment).toEqual(
      expect.arrayContaining([`GIT_DIR=${repository.directory}`, 'HOME=/nonexistent', 'GIT_TERMINAL_PROMPT=0']),
    );
    open.stdin!.end();
    await open.ended;

    expect(await listChangesWithLineCounts(repository, { oldId, newId })).toHaveLength(1);
    await blameFile(repository, newId, 'a');
    for (const format of ['tar.gz', 'zip'] as const) {
      const archive = await openArchive(repository, { commit: newId, format, prefix: 'p' });
      archive.stdout.resume();
      await archive.ended;
    }
    expect(await mergeCommitsToTree(repository, newId, rival)).toMatchObject({ conflicts: ['a'] });
    const advertised = await openAdvertisement(repository, 'git-receive-pack', {});
    advertised.stdout.resume();
    await advertised.ended;
    expect(
      await updateRefs(repository, [{ ref: 'refs/heads/x', oldId: NO_OBJECT, newId }], { atomic: true }),
    ).toMatchObject([{ moved: true }]);
    const clone = await uploadPack(repository, {
      input: Readable.from([`${toPacketLine(`want ${newId} ofs-delta\n`)}0000${toPacketLine('done\n')}`]),
    });
    clone.stdout.resume();
    await clone.ended;
    expect(await readObject(repository, { rev: refName('refs/heads/x'), path: 'a' })).not.toBeNull();
    expect(existsSync(mark)).toBe(false);
    for (const name of Object.keys(canary)) delete process.env[name];
  });

  it('is enough for a check of the version', async () => {
    expect(await gitProblem(test.processes)).toBeNull();
  });
});
