/**
 * Cost of a file at a commit and of a page of a folder: processor time of git and of this process together, compared
 * with one `git cat-file --batch` that reads the same blobs or trees. The repository has 100,000 files.
 * Run: node -r ./tools/jest/typescript-hook.cjs libs/git/test/bench/file-cost.ts
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { objectInfo, readObject, resolveCommit } from '../../src/objects/objects';
import { readSortedTreeRecursively, readSortedTree } from '../../src/objects/sorted-tree';
import { findTree, readEntry } from '../../src/objects/trees';
import type { ObjectId } from '../../src/names/object-id';
import type { Repository } from '../../src/repository/repository';
import { commit, git, TestGit } from '../support/repository';

const FILES = 100_000;
const PER_FOLDER = 100;
const READS = 4000;
const TOGETHER = 20;
const TICK_MS = 10;

/** Processor time of the git processes of a repository. Units: milliseconds, in steps of 10. */
function gitCpuMs({ directory }: Repository): number {
  const pids = readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === directory;
    } catch {
      return false;
    }
  });
  const ticks = pids.map((pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' '));
  return ticks.reduce((sum, fields) => sum + (Number(fields[11]) + Number(fields[12])) * TICK_MS, 0);
}

/** Processor time of `cat-file --batch` for these names. Units: milliseconds. */
function catFileCpuMs({ directory }: Repository, names: readonly string[]): number {
  const script = 'cat > names; git cat-file --batch < names > /dev/null; times';
  const { stdout } = spawnSync('sh', ['-c', script], { cwd: directory, input: `${names.join('\n')}\n` });
  const [user, system] = stdout
    .toString()
    .split('\n')[1]!
    .split(' ')
    .map((text) => {
      const [minutes, seconds] = text.slice(0, -1).split('m').map(Number);
      return (minutes! * 60 + seconds!) * 1000;
    });
  return user! + system!;
}

async function cpuMsOfReads(
  repository: Repository,
  names: readonly string[],
  read: (name: string) => Promise<unknown>,
) {
  await read(names[0]!);
  const before = { own: process.cpuUsage(), git: gitCpuMs(repository) };
  for (let at = 0; at < names.length; at += TOGETHER) await Promise.all(names.slice(at, at + TOGETHER).map(read));
  const own = process.cpuUsage(before.own);
  return (own.user + own.system) / 1000 + gitCpuMs(repository) - before.git;
}

async function benchFileReads(): Promise<void> {
  const test = new TestGit();
  const repository = await test.create();
  const paths = Array.from({ length: FILES }, (_, n) => `folder${Math.floor(n / PER_FOLDER)}/file${n}.txt`);
  const id = commit(repository, Object.fromEntries(paths.map((path, n) => [path, `${n} `.repeat(300)])));
  git(repository.directory, ['repack', '-adq']);
  const some = Array.from({ length: READS }, (_, n) => paths[(n * 7919) % FILES]!);
  const folders = some.map((path) => path.split('/')[0]!);

  const file = async (path: string): Promise<void> => {
    const at = (await resolveCommit(repository, 'main'))!;
    const entry = (await readEntry(repository, at, path))!;
    await objectInfo(repository, { rev: entry.id });
    await readObject(repository, { rev: entry.id });
  };
  const page = async (path: string): Promise<void> => {
    const at = (await resolveCommit(repository, 'main'))!;
    const tree = await readSortedTree(repository, (await findTree(repository, at, path))!);
    tree!.readEntries(0, 20);
  };
  for (const [name, names, read] of [
    ['file', some, file],
    ['page of a folder', folders, page],
  ] as const) {
    const raw = catFileCpuMs(
      repository,
      names.map((path) => `main:${path}`),
    );
    const ms = await cpuMsOfReads(repository, names, read);
    process.stdout.write(`${name}: ${ms.toFixed(0)} ms, cat-file ${raw.toFixed(0)} ms, x${(ms / raw).toFixed(1)}\n`);
  }
  const root = (await findTree(repository, id, ''))!;
  const before = process.cpuUsage();
  const all = await readSortedTreeRecursively(repository, root as ObjectId);
  const listed = process.cpuUsage(before);
  const listMs = ((listed.user + listed.system) / 1000).toFixed(0);
  process.stdout.write(`recursive listing: ${all.length} entries, ${all.bytes} bytes, ${listMs} ms here\n`);
  const start = process.hrtime.bigint();
  for (let index = 0; index < all.length; index += 100) all.readEntries(index, index + 100);
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  process.stdout.write(`all its pages of 100: ${ms.toFixed(0)} ms\n`);
  test.close();
}

void benchFileReads();
