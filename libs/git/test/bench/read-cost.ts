/**
 * Cost of reading small blobs: processor time of 2,000 reads through a kept reader, git and this process together,
 * compared with one `git cat-file --batch` that gets all ids at once and whose output `cat` reads.
 * Run: node -r ./tools/jest/typescript-hook.cjs libs/git/test/bench/read-cost.ts
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { readObject } from '../../src/objects/objects';
import type { ObjectId } from '../../src/names/object-id';
import type { Repository } from '../../src/repository/repository';
import { commit, git, TestGit } from '../support/repository';

const COUNT = 2000;
const TICK_MS = 10;
const ROUNDS = 20;

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

async function main(): Promise<void> {
  const test = new TestGit();
  const repository = await test.create();
  const files = Array.from({ length: COUNT }, (_, index) => [`f${index}`, `${index} `.repeat(300)]);
  commit(repository, Object.fromEntries(files) as Record<string, string>);
  git(repository.directory, ['repack', '-adq']);
  const lines = git(repository.directory, ['ls-tree', '-r', 'main']).trim().split('\n');
  const ids = lines.map((line) => line.slice(12, 52) as ObjectId);

  const input = `${ids.join('\n')}\n`;
  const script = `for i in $(seq ${ROUNDS}); do git cat-file --batch < ids | cat > /dev/null; done; times`;
  const { stdout } = spawnSync('sh', ['-c', `cat > ids; ${script}`], { cwd: repository.directory, input });
  const [user, system] = stdout
    .toString()
    .split('\n')[1]!
    .split(' ')
    .map((text) => {
      const [minutes, seconds] = text.slice(0, -1).split('m').map(Number);
      return (minutes! * 60 + seconds!) * 1000;
    });
  const raw = (user! + system!) / ROUNDS;

  const figures: Record<string, number> = { raw };
  for (const [name, together] of [
    ['sequential', 1],
    ['by twenties', 20],
    ['all at once', COUNT],
  ] as const) {
    await readObject(repository, { rev: ids[0]! });
    const before = { own: process.cpuUsage(), git: gitCpuMs(repository) };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let at = 0; at < ids.length; at += together) {
        await Promise.all(ids.slice(at, at + together).map((rev) => readObject(repository, { rev })));
      }
      test.readers.readerFor(repository).asked = 0;
    }
    const own = process.cpuUsage(before.own);
    figures[name] = ((own.user + own.system) / 1000 + gitCpuMs(repository) - before.git) / ROUNDS;
  }
  for (const [name, ms] of Object.entries(figures))
    process.stdout.write(`${name}: ${ms.toFixed(1)} ms, x${(ms / raw).toFixed(1)}\n`);
  test.close();
}

void main();
