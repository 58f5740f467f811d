import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_OBJECT } from '../../src/names/object-id';
import type { ObjectId } from '../../src/names/object-id';
import { objectInfo } from '../../src/objects/objects';
import { readRef } from '../../src/refs/refs';
import { updateRefs } from '../../src/refs/update-refs';
import { countObjects, packRepository } from '../../src/repository/maintenance';
import type { Repository } from '../../src/repository/repository';
import { commit, git, TestGit } from '../support/repository';

const test = new TestGit();
afterAll(() => test.close());

/** A repository with a pack for each commit, as after pushes, and with loose objects. */
async function createPackedRepository(): Promise<{ repository: Repository; ids: ObjectId[] }> {
  const repository = await test.create();
  const ids: ObjectId[] = [];
  for (let index = 0; index < 6; index += 1) {
    ids.push(commit(repository, { a: String(index) }));
    git(repository.directory, ['repack', '-dq']);
  }
  ids.push(commit(repository, { a: 'loose' }));
  return { repository, ids };
}

it('packs objects and refs, and keeps all of them', async () => {
  const { repository, ids } = await createPackedRepository();
  const { directory } = repository;
  const unreferenced = git(directory, ['hash-object', '-w', '--stdin'], 'unreferenced').trim() as ObjectId;
  git(directory, ['update-ref', 'refs/keep-around/x', ids[2]!]);
  const before = await countObjects(repository);
  expect(before).toMatchObject({ packs: 6, looseObjects: 4 });
  expect(before.bytes).toBeGreaterThan(0);
  // A reader that was started before the packs moved.
  expect(await objectInfo(repository, { rev: ids[0]! })).toMatchObject({ type: 'commit' });
  await packRepository(repository);
  expect(await countObjects(repository)).toMatchObject({ packs: 1, looseObjects: 0 });
  for (const rev of [...ids, unreferenced]) expect(await objectInfo(repository, { rev })).not.toBeNull();
  expect(readFileSync(join(directory, 'packed-refs'), 'utf8')).toContain(`${ids.at(-1)} refs/heads/main`);
  expect(git(directory, ['commit-graph', 'verify', '--no-progress'])).toBe('');
  const graphs = join(directory, 'objects/info/commit-graphs');
  const [graph] = readdirSync(graphs).filter((name) => name.endsWith('.graph'));
  // The chunk with filters of changed paths.
  expect(readFileSync(join(graphs, graph!)).includes('BDAT')).toBe(true);
  expect(git(directory, ['fsck', '--strict', '--no-dangling'])).toBe('');
});

it('runs while refs move', async () => {
  const { repository, ids } = await createPackedRepository();
  const refs = Array.from({ length: 20 }, (_, index) => `refs/heads/topic-${index}`);
  const moves = (async () => {
    for (const ref of refs) {
      const [made] = await updateRefs(repository, [{ ref, oldId: NO_OBJECT, newId: ids[0]! }], { atomic: true });
      const [moved] = await updateRefs(repository, [{ ref, oldId: ids[0]!, newId: ids[1]! }], { atomic: true });
      expect([made?.moved, moved?.moved]).toEqual([true, true]);
    }
  })();
  await Promise.all([moves, packRepository(repository)]);
  await packRepository(repository);
  for (const ref of refs) expect(await readRef(repository, ref)).toBe(ids[1]);
  expect(git(repository.directory, ['fsck', '--strict', '--no-dangling'])).toBe('');
});

it('ends with its caller, and leaves a whole repository', async () => {
  const { repository, ids } = await createPackedRepository();
  await expect(packRepository(repository, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  const stopping = new AbortController();
  const running = packRepository(repository, stopping.signal);
  setImmediate(() => stopping.abort(new Error('stopped')));
  await expect(running).rejects.toThrow('stopped');
  expect(await readRef(repository, 'refs/heads/main')).toBe(ids.at(-1));
  expect(git(repository.directory, ['fsck', '--strict', '--no-dangling'])).toBe('');
});

it('has its leftovers swept', async () => {
  const { repository } = await createPackedRepository();
  const names = ['.tmp-1-pack-a.pack', 'tmp_pack_a', 'pack-a.keep', '.tmp-2-pack-b.pack', 'pack-b.keep', 'pack-a.rev'];
  const left = names.map((name) => join(repository.directory, 'objects/pack', name));
  for (const file of left) writeFileSync(file, 'x');
  for (const file of [...left.slice(0, 3), left.at(-1)!]) utimesSync(file, 1, 1);
  expect(await test.repositories.sweep('default', 60_000)).toBe(3);
  expect(left.map(existsSync)).toEqual([false, false, false, true, true, true]);
});
