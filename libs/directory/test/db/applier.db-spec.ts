import { Work } from '@rookery/persistence';
import { until } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { DirectoryCopyProgress } from '../../src/copy/copy-progress';
import { Copy } from '../copy';
import { IdentityServer } from '../identity-server';
import { group, membership, project, user, viewer } from '../states';

describe('the copy that follows identity', () => {
  let database: TestDatabase;
  let identity: IdentityServer;
  let copy: Copy;

  beforeEach(async () => {
    database = await Copy.database();
    identity = new IdentityServer();
    await identity.listen();
  });

  afterEach(async () => {
    await copy.stop();
    await identity.close();
    await database.drop();
  });

  /** A short deadline for expected refusals. */
  const soon = () => ({ deadline: Date.now() + 1000 });
  const reaches = (version: number): Promise<void> =>
    until(async () => (await copy.position()).version === version && (await copy.position()).epoch === identity.epoch);

  it('loads the log, then applies each version as it comes', async () => {
    identity.commit(['user', user(1)], ['namespace', group(10)], ['project', project(100, 10)]);
    copy = await Copy.start(database.url, identity.url);
    await reaches(1);

    expect(await copy.directory.findProject(100, viewer(1, 1))).toBeNull();
    const version = identity.commit(['membership', membership(500, 1, ['namespace', 10], 30)]);
    expect(await copy.directory.findProject(100, viewer(1, version))).toMatchObject({ id: 100, level: 30 });
    const later = identity.commit(['membership', { id: 500 }, 'gone']);
    expect(await copy.directory.findProject(100, viewer(1, later))).toBeNull();
    expect(identity.questions).toEqual([]);
  });

  it('keeps only the newest state of a row that one batch changes repeatedly', async () => {
    identity.commit(['user', user(1)], ['user', user(2)]);
    for (let round = 1; round <= 40; round++) identity.commit(['user', user(1, { name: `Name ${round}` })]);
    identity.commit(['user', { id: 2 }, 'gone']);
    identity.commit(['token', { id: 9 }, 'gone']);
    copy = await Copy.start(database.url, identity.url);
    await reaches(43);

    const users = await copy.directory.findUsers([1, 2]);
    expect([...users.keys()]).toEqual([1]);
    expect(users.get(1)).toMatchObject({ name: 'Name 40', createdAt: '2026-01-05T09:00:00.000Z' });
  });

  it('stores a compacted log at once up to the version up to which it was compacted', async () => {
    identity.commit(['user', user(1)]);
    identity.largestPage = 2;
    // Compaction removes states between 2 and 9 that later versions replaced; the copy must not stop in between.
    for (let id = 2; id <= 9; id++) identity.commit(['user', user(id)]);
    identity.compactedTo = 9;
    copy = await Copy.start(database.url, identity.url);
    const seen = new Set<number>();
    await until(async () => {
      const { version } = await copy.position();
      seen.add(version);
      return version === 9;
    });
    expect([...seen].filter((version) => version > 0)).toEqual([9]);
    expect((await copy.directory.findUsers([1, 2, 3, 4, 5, 6, 7, 8, 9])).size).toBe(9);
  });

  it('is loaded again only by a process with other fields', async () => {
    identity.commit(['user', user(1)], ['namespace', group(10)]);
    identity.commit(['project', project(100, 10, { visibility: 'public', feature_flags_access_level: 'disabled' })]);
    const spoil = (fields: string | null) =>
      copy.database.query(
        `with spoilt as (update directory_projects set feature_flags_access_level = null)
         update directory_state set fields = coalesce($1, fields)`,
        [fields],
      );
    const level = async (): Promise<unknown> =>
      (await copy.directory.findProjects([100])).get(100)?.featureFlagsAccessLevel;
    copy = await Copy.start(database.url, identity.url);
    await reaches(2);
    expect(await level()).toBe('disabled');

    await spoil(null);
    await copy.stop();
    copy = await Copy.start(database.url, identity.url);
    identity.commit(['user', user(2)]);
    await reaches(3);
    expect(await level()).toBe('enabled');

    // As an earlier release leaves it.
    await spoil('');
    await copy.stop();
    copy = await Copy.start(database.url, identity.url);
    await until(async () => (await level()) === 'disabled', 'the copy is loaded again');
    await reaches(3);
  });

  it('drops everything and refuses while another epoch is being loaded', async () => {
    identity.commit(
      ['user', user(1)],
      ['namespace', group(10)],
      ['project', project(100, 10, { visibility: 'public' })],
    );
    copy = await Copy.start(database.url, identity.url, {});
    await reaches(1);

    identity.epoch = 'second';
    identity.log = [];
    identity.commit(
      ['user', user(1)],
      ['namespace', group(11)],
      ['project', project(101, 11, { visibility: 'public' })],
    );
    await reaches(1);

    const second = { epoch: 'second' };
    expect(await copy.directory.findProject(100, viewer(1, 1, second))).toBeNull();
    expect(await copy.directory.findProject(101, viewer(1, 1, second))).toMatchObject({ id: 101 });
    await expect(copy.directory.findProject(101, viewer(1, 1, soon()))).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('reports its life and the highest ids ever seen, including those of deleted rows and of another history', async () => {
    identity.commit(
      ['user', user(1)],
      ['namespace', group(10)],
      ['project', project(100, 10)],
      ['token', { id: 7 }, 'gone'],
    );
    copy = await Copy.start(database.url, identity.url);
    await reaches(1);
    identity.life = 'b';
    identity.commit(['project', { id: 105 }, 'gone']);
    await reaches(2);
    const seen = { user: 1, namespace: 10, project: 105, token: 7 };
    await until(() => Promise.resolve(identity.reports.at(-1)?.life === 'b'));
    expect(identity.reports.at(-1)).toEqual({ life: 'b', reader: 'collaboration', seen });

    identity.epoch = 'second';
    identity.log = [];
    identity.commit(['user', user(1)]);
    await reaches(1);
    await until(() => Promise.resolve(identity.reports.at(-1)?.life === 'b'));
    expect(identity.reports.at(-1)).toEqual({ life: 'b', reader: 'collaboration', seen });
  });

  it('lists records that another history does not have, by id and creation time, until they are known or deleted', async () => {
    const born = (day: number): { created_at: string } => ({ created_at: `2026-02-0${day}T09:00:00.000Z` });
    const lost = (): Promise<unknown[]> =>
      copy.database.query('select kind, id, name, state from directory_lost order by kind, id');
    identity.commit(['user', user(1, { username: 'ann' })], ['user', user(2, { username: 'bob' })]);
    identity.commit(['namespace', group(10)], ['namespace', group(11, { path: 'gone', full_path: 'gone' })]);
    for (const id of [100, 101, 102]) identity.commit(['project', project(id, 10, { path: `p${id}`, ...born(1) })]);
    copy = await Copy.start(database.url, identity.url);
    await reaches(5);
    expect(await lost()).toEqual([]);

    identity.epoch = 'second';
    identity.log = [];
    identity.commit(['user', user(1, { username: 'ann' })], ['namespace', group(10)]);
    identity.commit(['project', project(100, 10, born(1))], ['project', project(101, 10, born(2))]);
    await reaches(2);
    const open = { state: 'open' };
    expect(await lost()).toEqual([
      { kind: 'group', id: 11, name: 'gone', ...open },
      // The id belongs to another project now.
      { kind: 'project', id: 101, name: 'p101', ...open },
      { kind: 'project', id: 102, name: 'p102', ...open },
      { kind: 'user', id: 2, name: 'bob', ...open },
    ]);

    await copy.directory.assertDeleted(copy.database, 'project', [], [102]);
    expect(await lost()).toHaveLength(3);
    // A third history, from a newer dump, has some of the records again.
    identity.epoch = 'third';
    identity.log = [];
    identity.commit(
      ['user', user(1, { username: 'ann' })],
      ['user', user(2, { username: 'bob' })],
      ['namespace', group(10)],
    );
    identity.commit(['project', project(100, 10, born(1))], ['project', project(101, 10, born(2))]);
    await reaches(2);
    expect(await lost()).toEqual([
      { kind: 'group', id: 11, name: 'gone', ...open },
      { kind: 'project', id: 101, name: 'p101', ...open },
    ]);
  });

  it('decides nothing between the end of one history and the load of the next', async () => {
    identity.commit(
      ['user', user(1)],
      ['namespace', group(10)],
      ['project', project(100, 10, { visibility: 'public' })],
    );
    copy = await Copy.start(database.url, identity.url, {});
    await reaches(1);

    identity.epoch = 'second';
    // The load cannot finish, because the end of the next history is never sent.
    identity.largestPage = 1;
    identity.commit(['user', user(2)]);
    identity.compactedTo = 1000;
    identity.wake();
    await until(async () => (await copy.position()).epoch === '');
    for (const epoch of ['first', 'second']) {
      const late = viewer(1, 1, { epoch, ...soon() });
      await expect(copy.directory.findProject(100, late)).rejects.toMatchObject({ code: 'unavailable' });
    }
  });

  it('serves two replicas: one stores, both see the change', async () => {
    copy = await Copy.start(database.url, identity.url);
    const other = await Copy.start(database.url, identity.url);
    try {
      let version = identity.commit(['user', user(1)], ['namespace', group(10)], ['project', project(100, 10)]);
      for (let round = 1; round <= 20; round++) {
        version = identity.commit(['membership', membership(500, 1, ['project', 100], round % 2 ? 30 : 40)]);
        const asked = [copy, other].map((replica) => replica.directory.findProject(100, viewer(1, version)));
        for (const scope of await Promise.all(asked)) expect(scope).toMatchObject({ level: round % 2 ? 30 : 40 });
      }
      expect(identity.questions).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it('continues after an outage of identity', async () => {
    identity.commit(['user', user(1)]);
    copy = await Copy.start(database.url, identity.url);
    await reaches(1);
    const port = Number(new URL(identity.url).port);
    await identity.close();
    await identity.listen(port);
    identity.commit(['user', user(2)]);
    await reaches(2);
  });

  it('confirms a current copy by one statement without a transaction', async () => {
    identity.commit(['user', user(1)]);
    copy = await Copy.start(database.url, identity.url);
    await reaches(1);
    const transactions = jest.spyOn(copy.testing.get(Work), 'run');
    await copy.database.query(`update directory_state set refreshed_at = now() - interval '1 hour'`);
    await until(async () => {
      const [state] = await copy.database.query<{ is_current: boolean }>(
        `select refreshed_at > now() - interval '1 minute' as is_current from directory_state`,
      );
      return state!.is_current;
    });
    expect(await copy.position()).toMatchObject({ version: 1 });
    expect(transactions).not.toHaveBeenCalled();
  });

  it('lets identity hold its poll longer while no effect needs it, and is current at once for the first effect', async () => {
    copy = await Copy.start(database.url, identity.url);
    await reaches(0);
    identity.holdsPolls = true;
    const isCalm = jest.spyOn(copy.testing.get(DirectoryCopyProgress), 'isCalm', 'get').mockReturnValue(true);
    // Ends the poll that is held already.
    identity.commit(['user', user(1)]);
    await until(() => identity.lastWaitMs === 10_000, 'the long poll');
    await copy.database.query(`update directory_state set refreshed_at = now() - interval '1 hour'`);
    await until(
      () =>
        copy.directory.assertCurrent().then(
          () => true,
          () => false,
        ),
      'the copy',
    );
    isCalm.mockRestore();
    await until(() => identity.lastWaitMs === 1500, 'the short poll');
  });

  it('finds a project that another service asks about right after its creation', async () => {
    identity.commit(['namespace', group(10)]);
    copy = await Copy.start(database.url, identity.url);
    await reaches(1);
    for (let id = 100; id < 130; id++) {
      identity.commit(['project', project(id, 10)]);
      expect(await copy.directory.findProjectForService(id)).toMatchObject({ id });
    }
    expect(await copy.directory.findProjectForService(999)).toBeNull();
  });

  it('is settled only while it is known to be current', async () => {
    copy = await Copy.start(database.url, identity.url);
    await reaches(0);
    await copy.directory.assertCurrent();

    identity.isAsleep = true;
    // An earlier answer of identity may still be stored.
    await until(async () => {
      await copy.database.query(`update directory_state set refreshed_at = now() - interval '5.1 seconds'`);
      return copy.directory.assertCurrent().then(
        () => false,
        () => true,
      );
    }, 'the refusal');
    await expect(copy.directory.assertCurrent()).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  });
});
