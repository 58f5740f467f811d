import type { RookeryError } from '@rookery/kernel';
import { until } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Copy } from '../copy';
import { IdentityServer } from '../identity-server';
import { LevelModel } from '../level-model';
import { viewer } from '../states';

const STEPS = 2000;
const SEED = Number(process.env['MODEL_SEED'] ?? 20_261_121);

/** Pseudo-random integers (mulberry32): the same numbers for the same seed on every machine. */
function seededRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe(`random changes against a reference model, seed ${SEED}`, () => {
  let database: TestDatabase;
  let identity: IdentityServer;
  let copy: Copy;

  beforeAll(async () => {
    database = await Copy.database();
    identity = new IdentityServer();
    await identity.listen();
    copy = await Copy.start(database.url, identity.url);
  });

  afterAll(async () => {
    await copy.stop();
    await identity.close();
    await database.drop();
  });

  it(`decides as the model does immediately after each of ${STEPS} changes`, async () => {
    const random = seededRandom(SEED);
    const model = new LevelModel(random);
    let version = identity.commit(...model.begin());
    const counts = { allowed: 0, denied: 0, refused: 0 };
    for (let step = 0; step < STEPS; step++) {
      version = identity.commit(...model.step());
      // Three decisions on a project or a group, for a user or an anonymous caller.
      for (let question = 0; question < 3; question++) {
        const userId = random(10) === 0 ? null : 1 + random(8);
        const isProject = random(3) > 0;
        const id = isProject ? model.pick([...model.projects.keys()]) : 201 + random(12);
        const source = [isProject ? 'project' : 'namespace', id] as const;
        const isExternal = userId !== null && model.users.get(userId)!.external;
        const who = viewer(userId, version, { isExternal });
        const asked = isProject ? copy.directory.findProject(id, who) : copy.directory.findGroup(id, who);
        const decision = await asked.catch((error: unknown) => error as RookeryError);
        const where = `step ${step}, user ${userId}, ${source.join(' ')}`;
        if (userId !== null && model.users.get(userId)?.state !== 'active') {
          expect([where, decision]).toEqual([where, expect.objectContaining({ code: 'forbidden' })]);
          counts.refused++;
        } else if (model.sees(userId, source)) {
          const level = userId === null ? 0 : model.level(userId, source);
          expect([where, decision]).toEqual([where, expect.objectContaining({ id, level })]);
          counts.allowed++;
        } else {
          expect([where, decision]).toEqual([where, null]);
          counts.denied++;
        }
      }
    }
    process.stdout.write(`level model: ${JSON.stringify({ steps: STEPS, seed: SEED, ...counts })}\n`);
    expect(identity.questions).toEqual([]);
  });

  it('returns the same levels for all users by the SQL functions and the batch lookups', async () => {
    const model = new LevelModel(seededRandom(SEED + 1));
    identity.log = [];
    identity.epoch = 'second';
    identity.commit(...model.begin());
    for (let step = 0; step < 300; step++) identity.commit(...model.step());
    const version = identity.head;
    identity.wake();
    await until(async () => {
      const position = await copy.position();
      return position.epoch === 'second' && position.version === version;
    });
    const people = [...model.users.keys()];
    for (const id of model.projects.keys()) {
      const expected = people.map((person) => [person, model.level(person, ['project', id])]);
      expect([...(await copy.directory.levelsInProject(id, people))]).toEqual(expected);
      const rows = await copy.database.query<{ u: number; level: number }>(
        'select u, directory_project_level($1, u) as level from unnest($2::bigint[]) as u',
        [id, people],
      );
      expect(rows.map((row) => [row.u, row.level])).toEqual(expected);
    }
    for (const id of model.namespaces.keys()) {
      const expected = people.map((person) => [person, model.level(person, ['namespace', id])]);
      expect([...(await copy.directory.levelsInGroup(id, people))]).toEqual(expected);
    }
  });
});
