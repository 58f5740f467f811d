/**
 * A process that uses the library, for tests that kill it: `<repository> <other repository> <pack> <new id>`. It starts
 * a clone without a reader, a push that never ends, a transaction with locks, a kept reader, a large blob and a process
 * whose input never ends, and prints a line when all of them run.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { GitProcesses } from '../../src/process/git-processes';
import { ObjectReaders } from '../../src/repository/object-readers';
import { objectInfo } from '../../src/objects/objects';
import { refName } from '../../src/names/ref-name';
import type { ObjectId } from '../../src/names/object-id';
import { Repository } from '../../src/repository/repository';
import { PushHooks } from '../../src/transport/push-hooks';
import { receivePack, uploadPack } from '../../src/transport/pack-services';
import { OPTIONS } from './repository';

const [directory, other, pack, id] = process.argv.slice(2) as [string, string, string, ObjectId];
const processes = new GitProcesses(OPTIONS);
const tools = { processes, readers: new ObjectReaders(processes, { total: 4, idleMs: 60_000 }) };
const repository = new Repository({ storage: 'default', path: '' }, directory, tools);
const target = new Repository({ storage: 'default', path: '' }, other, tools);

function toPacketLine(text: string): string {
  return `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
}

async function startGitProcesses(): Promise<void> {
  const clone = new PassThrough();
  clone.end(`${toPacketLine(`want ${id} ofs-delta\n`)}0000${toPacketLine('done\n')}`);
  await uploadPack(repository, { input: clone });
  const push = new PassThrough();
  push.write(`${toPacketLine(`${'0'.repeat(40)} ${id} refs/heads/main\0 report-status`)}0000`);
  createReadStream(pack, { end: 2_000_000 }).pipe(push, { end: false });
  const hooks = new PushHooks(() => undefined);
  await receivePack(target, { input: push, ticket: hooks.expectPush(target, { beforeUpdate: async () => null }) });
  const transaction = await repository.open({ args: ['update-ref', '--stdin'], stdin: 'pipe' });
  transaction.stdin!.write(`start\ncreate refs/heads/locked ${id}\nprepare\n`);
  transaction.stdout.resume();
  await repository.open({ args: ['cat-file', 'blob', `${id}:large`], lane: 'transport' });
  // This pipe has no writer, so the death of its parent alone can end the process.
  const pipe = join(directory, 'endless');
  execFileSync('mkfifo', [pipe]);
  await repository.open({ args: ['hash-object', '--no-filters', pipe] });
  await objectInfo(repository, { rev: refName('HEAD') });
  process.stdout.write('ready\n');
}

void startGitProcesses();
