import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EMPTY_TREE, NO_OBJECT } from '../../src/names/object-id';
import type { ObjectId } from '../../src/names/object-id';
import { inQuarantine } from '../../src/objects/quarantine';
import { listRefNames, listRefs, readHead, readRef, readRefs, setHead } from '../../src/refs/refs';
import { updateRefs } from '../../src/refs/update-refs';
import type { RefUpdate } from '../../src/refs/update-refs';
import type { Repository } from '../../src/repository/repository';
import { commit, git, TestGit } from '../support/repository';

const test = new TestGit();
afterAll(() => test.close());

const createUpdate = (ref: string, newId: ObjectId): RefUpdate => ({ ref, oldId: NO_OBJECT, newId });

async function createFilledRepository(): Promise<{ repository: Repository; first: ObjectId; second: ObjectId }> {
  const repository = await test.create();
  const first = commit(repository, { a: '1' });
  return { repository, first, second: commit(repository, { a: '2' }) };
}

describe('ref updates', () => {
  it('move all refs, or none if one does not have its old value', async () => {
    const { repository, first, second } = await createFilledRepository();
    const made = await updateRefs(
      repository,
      [createUpdate('refs/heads/x', first), createUpdate('refs/tags/v1', second)],
      {
        atomic: true,
      },
    );
    expect(made).toEqual([
      { ref: 'refs/heads/x', moved: true },
      { ref: 'refs/tags/v1', moved: true },
    ]);
    const updates: RefUpdate[] = [
      { ref: 'refs/heads/x', oldId: first, newId: second },
      { ref: 'refs/heads/main', oldId: first, newId: NO_OBJECT },
      { ref: 'refs/tags/none', oldId: first, newId: NO_OBJECT },
      createUpdate('refs/heads/x/y', first),
    ];
    expect(await updateRefs(repository, updates.slice(0, 2), { atomic: true })).toEqual([
      { ref: 'refs/heads/x', moved: false, why: 'failed', now: first },
      { ref: 'refs/heads/main', moved: false, why: 'changed', now: second },
    ]);
    expect(await updateRefs(repository, updates, { atomic: false })).toEqual([
      { ref: 'refs/heads/x', moved: true },
      { ref: 'refs/heads/main', moved: false, why: 'changed', now: second },
      { ref: 'refs/tags/none', moved: false, why: 'changed', now: null },
      { ref: 'refs/heads/x/y', moved: false, why: 'hierarchy', now: null },
    ]);
    expect(
      await updateRefs(repository, [{ ref: 'refs/heads/x', oldId: second, newId: NO_OBJECT }], { atomic: true }),
    ).toEqual([{ ref: 'refs/heads/x', moved: true }]);
    expect(await readRef(repository, 'refs/heads/x')).toBeNull();
  });

  it('report a lock, a missing object and one of the wrong type', async () => {
    const { repository, first } = await createFilledRepository();
    const lock = join(repository.directory, 'refs/heads/locked.lock');
    writeFileSync(lock, '');
    const why = async (update: RefUpdate) => (await updateRefs(repository, [update], { atomic: true }))[0];
    expect(await why(createUpdate('refs/heads/locked', first))).toMatchObject({ moved: false, why: 'locked' });
    expect(await why(createUpdate('refs/heads/x', 'a'.repeat(40) as ObjectId))).toMatchObject({
      moved: false,
      why: 'object',
    });
    const tree = git(repository.directory, ['rev-parse', 'main^{tree}']).trim() as ObjectId;
    expect(await why(createUpdate('refs/heads/x', tree))).toMatchObject({ moved: false, why: 'object' });
    expect(await why(createUpdate('refs/tags/x', tree))).toMatchObject({ moved: true });
    expect(existsSync(join(repository.directory, 'refs/heads/x.lock'))).toBe(false);
  });

  it('go on after locks that killed processes left', async () => {
    const { repository, first } = await createFilledRepository();
    const longAgo = new Date(Date.now() - 6 * 60_000);
    for (const name of ['refs/heads/left.lock', 'packed-refs.lock']) {
      writeFileSync(join(repository.directory, name), '');
      utimesSync(join(repository.directory, name), longAgo, longAgo);
    }
    const [made] = await updateRefs(repository, [createUpdate('refs/heads/left', first)], { atomic: true });
    expect(made).toEqual({ ref: 'refs/heads/left', moved: true });
    const [gone] = await updateRefs(repository, [{ ref: 'refs/heads/left', oldId: first, newId: NO_OBJECT }], {
      atomic: true,
    });
    expect(gone).toEqual({ ref: 'refs/heads/left', moved: true });
  });

  it('of one ref by many callers let exactly one win', async () => {
    const { repository, first, second } = await createFilledRepository();
    await updateRefs(repository, [createUpdate('refs/heads/x', first)], { atomic: true });
    const calls = Array.from({ length: 8 }, () =>
      updateRefs(repository, [{ ref: 'refs/heads/x', oldId: first, newId: second }], { atomic: true }),
    );
    const outcomes = (await Promise.all(calls)).map(([outcome]) => outcome!);
    expect(outcomes.filter(({ moved }) => moved)).toHaveLength(1);
    for (const outcome of outcomes) if (!outcome.moved) expect(['changed', 'locked']).toContain(outcome.why);
  });

  it.each([
    'main',
    '-x',
    'HEAD',
    'refs/heads/..',
    'refs/heads/a b',
    'refs/heads/x\n',
    'refs/heads/x\0y',
    'refs/heads/x.lock',
    'refs/heads/@{',
  ])('refuse the ref %j', async (ref) => {
    const { repository, first } = await createFilledRepository();
    await expect(updateRefs(repository, [createUpdate(ref, first)], { atomic: true })).rejects.toMatchObject({
      reason: 'invalid',
    });
  });

  it('do not move to objects in quarantine', async () => {
    const { repository, first } = await createFilledRepository();
    await inQuarantine(repository, async ({ repository: view }) => {
      const update = updateRefs(view, [createUpdate('refs/heads/x', first)], { atomic: true });
      await expect(update).rejects.toMatchObject({ reason: 'invalid' });
    });
  });

  it('refuse odd ids and two updates of one ref', async () => {
    const { repository, first } = await createFilledRepository();
    for (const newId of ['main', first.slice(1), `${first}\0`, NO_OBJECT])
      await expect(
        updateRefs(repository, [createUpdate('refs/heads/x', newId as ObjectId)], { atomic: true }),
      ).rejects.toMatchObject({ reason: 'invalid' });
    await expect(
      updateRefs(repository, [createUpdate('refs/heads/x', first), createUpdate('refs/heads/x', first)], {
        atomic: true,
      }),
    ).rejects.toMatchObject({ reason: 'invalid' });
  });
});

describe('lists of refs', () => {
  it('have targets, order and filters', async () => {
    const { repository, first, second } = await createFilledRepository();
    git(repository.directory, ['tag', '-a', '-m', 'Release\nwith lines', 'v10', first]);
    await updateRefs(
      repository,
      [
        createUpdate('refs/tags/v9', second),
        createUpdate(`refs/heads/${first}`, first),
        createUpdate('refs/heads/ü', second),
        createUpdate('refs/tags/tree', EMPTY_TREE),
      ],
      { atomic: false },
    );
    const tags = await listRefs(repository, { under: ['refs/tags'], order: 'version' });
    expect(tags.map(({ name }) => name)).toEqual(expect.arrayContaining(['refs/tags/v9', 'refs/tags/v10']));
    expect(tags.find(({ name }) => name === 'refs/tags/v10')).toMatchObject({
      type: 'tag',
      peeled: { id: first, type: 'commit' },
      updatedAt: 1_700_000_000,
    });
    expect((await listRefs(repository, { under: ['refs/heads'], mergedInto: first })).map(({ name }) => name)).toEqual([
      `refs/heads/${first}`,
    ]);
    expect(
      (await listRefs(repository, { under: ['refs/heads'], contains: second, order: '-name' })).map(({ name }) => name),
    ).toEqual(['refs/heads/ü', 'refs/heads/main']);
    expect(await listRefs(repository, { under: ['refs/heads'], max: 1 })).toHaveLength(1);
    expect(await readRefs(repository, ['refs/heads/ü', 'refs/heads/none'])).toEqual(
      new Map([['refs/heads/ü', second]]),
    );
    await expect(listRefs(repository, { under: ['--format=x'] })).rejects.toMatchObject({ reason: 'invalid' });
  });

  it('of ten thousand refs are whole, and many move in one transaction', async () => {
    const { repository, first, second } = await createFilledRepository();
    const names = Array.from({ length: 10_000 }, (_, index) => `refs/heads/b${String(index).padStart(5, '0')}`);
    const lines = names.map((name) => `${first} ${name}\n`).join('');
    writeFileSync(join(repository.directory, 'packed-refs'), `# pack-refs with: peeled fully-peeled sorted \n${lines}`);
    expect(await listRefs(repository, { under: ['refs/heads'] })).toHaveLength(10_001);
    const named = await listRefNames(repository, { under: 'refs/heads', order: '-name' });
    expect([named.length, named[0], named.at(-1)]).toEqual([
      10_001,
      { name: 'refs/heads/main', id: second },
      { name: names[0], id: first },
    ]);
    await expect(listRefNames(repository, { under: '--all', order: 'name' })).rejects.toMatchObject({
      reason: 'invalid',
    });
    expect((await readRefs(repository, names)).size).toBe(10_000);
    const updates = names.slice(0, 500).map((ref) => ({ ref, oldId: first, newId: second }));
    expect((await updateRefs(repository, updates, { atomic: true })).every(({ moved }) => moved)).toBe(true);
    const late = [...names.slice(500, 900).map((ref) => ({ ref, oldId: first, newId: second })), updates[0]!];
    expect((await updateRefs(repository, late, { atomic: true })).at(-1)).toMatchObject({
      why: 'changed',
      now: second,
    });
    expect(await readRef(repository, names[600]!)).toBe(first);
    await expect(
      updateRefs(repository, [...updates, ...names.map((ref) => ({ ref, oldId: first, newId: second }))], {
        atomic: true,
      }),
    ).rejects.toMatchObject({ reason: 'invalid' });
  });

  it('know the branch of HEAD, also in an empty repository', async () => {
    const repository = await test.create();
    expect(await readHead(repository)).toBe('refs/heads/main');
    await setHead(repository, 'refs/heads/other');
    expect(await readHead(repository)).toBe('refs/heads/other');
    for (const branch of ['refs/tags/x', 'main', 'refs/heads/a b', '-d'])
      await expect(setHead(repository, branch)).rejects.toMatchObject({ reason: 'invalid' });
    await expect(listRefs(test.repositories.open(test.nextAddress()))).rejects.toMatchObject({
      reason: 'no repository',
    });
  });
});
