import type { Viewer } from '@rookery/kernel';
import { Metrics } from '@rookery/platform';
import { until } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { DirectoryCopyProgress } from '../../src/copy/copy-progress';
import { Copy } from '../copy';
import { IdentityServer } from '../identity-server';
import { group, membership, project, user, viewer } from '../states';

describe('a decision that needs a version', () => {
  let database: TestDatabase;
  let identity: IdentityServer;
  let copy: Copy;

  beforeEach(async () => {
    database = await Copy.database();
    identity = new IdentityServer();
    await identity.listen();
    identity.commit(['user', user(1)], ['namespace', group(10)], ['project', project(100, 10)]);
    await start();
  });

  afterEach(async () => {
    await copy.stop();
    await identity.close();
    await database.drop();
  });

  /** Starts the copy with the product's defaults, unless `env` has others. */
  async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    copy = await Copy.start(database.url, identity.url, env);
    await until(async () => (await copy.position()).version === 1);
  }
  async function restart(env: Readonly<Record<string, string>>): Promise<void> {
    await copy.stop();
    await start(env);
  }
  /** Observes waits for the copy and their limits. Units: ms. */
  function watchWaits() {
    const spy = jest.spyOn(copy.testing.get(DirectoryCopyProgress), 'waitForPosition');
    return {
      begun: () => spy.mock.calls.length,
      patience: () => spy.mock.calls.map(([, withinMs]) => withinMs),
      ended: () => Promise.all(spy.mock.results.map(({ value }) => value as Promise<boolean>)),
    };
  }
  /** Stops the copy at its position. */
  function pauseCopy(): void {
    identity.shownUpTo = 1;
  }
  const outcome = async (name: string): Promise<number> => {
    const { body } = await copy.testing.get(Metrics).text();
    const line = body
      .split('\n')
      .find((text) => text.startsWith(`rookery_directory_late_decisions_total{outcome="${name}"`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };

  it('waits for a copy that is a little behind', async () => {
    await restart({ DIRECTORY_WAIT_MS: '50000' });
    pauseCopy();
    const waits = watchWaits();
    const version = identity.commit(['membership', membership(500, 1, ['project', 100], 40)]);
    const decision = copy.directory.findProject(100, viewer(1, version));
    await until(() => waits.begun() === 1);
    identity.shownUpTo = Infinity;
    identity.wake();
    expect(await decision).toMatchObject({ level: 40 });
    expect(await outcome('waited')).toBe(1);
    expect(identity.questions).toEqual([]);
  });

  describe('that refused a request', () => {
    const older = (over: Partial<Viewer> = {}): Viewer => viewer(1, 1, over);

    it('is repeated at the current version of identity', async () => {
      pauseCopy();
      const version = identity.commit(
        ['project', project(101, 10)],
        ['membership', membership(500, 1, ['project', 101], 40)],
      );
      expect(await copy.directory.findProject(101, older())).toBeNull();
      const newest = (await copy.directory.newestPosition(older())) as Viewer['directory'];
      expect(newest).toEqual({ version, epoch: 'first' });
      identity.shownUpTo = Infinity;
      identity.wake();
      expect(await copy.directory.findProject(101, older({ directory: newest }))).toMatchObject({ level: 40 });
      expect(await outcome('judged again')).toBe(1);
    });

    it('is not repeated if identity has no newer version, has another history, or does not answer', async () => {
      expect(await copy.directory.newestPosition(older())).toBeNull();
      identity.commit(['user', user(2)]);
      identity.epoch = 'second';
      expect(await copy.directory.newestPosition(older())).toBeNull();
      identity.isAsleep = true;
      expect(await copy.directory.newestPosition(older({ deadline: Date.now() + 200 }))).toBeNull();
      await identity.close();
      expect(await copy.directory.newestPosition(older())).toBeNull();
      expect(await outcome('judged again')).toBe(0);
    });

    it('shares the next question among callers that arrive during one', async () => {
      identity.commit(['user', user(2)]);
      const asked = Array.from({ length: 50 }, () => copy.directory.newestPosition(older()));
      expect(new Set((await Promise.all(asked)).map((head) => head?.version))).toEqual(new Set([2]));
      expect(identity.heads).toBe(2);
    });
  });

  it('asks identity when the copy is late for 150 ms, both to allow and to deny', async () => {
    pauseCopy();
    const waits = watchWaits();
    const version = identity.commit(['membership', membership(500, 1, ['project', 100], 40)]);
    identity.decision = { project: project(100, 10), namespace: group(10), access_level: 40 };
    expect(await copy.directory.findProject(100, viewer(1, version))).toMatchObject({
      id: 100,
      level: 40,
      fullPath: 'group10/project100',
      nameWithNamespace: 'Group 10 / Project 100',
      createdAt: '2026-01-05T09:00:00.000Z',
    });
    expect(waits.patience()[0]).toBe(150);
    expect(identity.questions).toEqual([{ viewer_id: 1, project: 100 }]);

    identity.decision = { project: project(100, 10), namespace: group(10), access_level: 0 };
    expect(await copy.directory.findProject('group10/project100', viewer(1, version))).toBeNull();
    identity.decision = {};
    expect(await copy.directory.findGroup('nowhere', viewer(1, version))).toBeNull();
    expect(await outcome('asked')).toBe(3);
  });

  it('asks once for many requests with the same question', async () => {
    pauseCopy();
    const waits = watchWaits();
    const version = identity.commit(['user', user(2)]);
    identity.decision = { project: project(100, 10), namespace: group(10), access_level: 20 };
    let answer = (): void => undefined;
    identity.thinksUntil = new Promise<void>((resolve) => (answer = resolve));
    const asked = Array.from({ length: 50 }, () => copy.directory.findProject(100, viewer(1, version)));
    // Each request has waited a short time, and now waits for the copy or identity.
    await until(() => waits.begun() === 100);
    answer();
    for (const scope of await Promise.all(asked)) expect(scope).toMatchObject({ level: 20 });
    expect(identity.questions).toHaveLength(1);
  });

  it('refuses an answer of identity that is older than the request', async () => {
    pauseCopy();
    identity.decision = { project: project(100, 10), namespace: group(10), access_level: 40, version: 4 };
    await expect(copy.directory.findProject(100, viewer(1, 5))).rejects.toMatchObject({ code: 'unavailable' });
    identity.decision = { ...identity.decision, version: 5, epoch: 'another' };
    await expect(copy.directory.findProject(100, viewer(1, 5))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await outcome('refused')).toBe(2);
  });

  it('refuses when identity does not answer before the deadline, whatever the decision would be', async () => {
    pauseCopy();
    identity.isAsleep = true;
    const soon = (): Viewer => viewer(1, 2, { deadline: Date.now() + 1000 });
    const asked = [100, 999, 'group10/project100', 'no/where'].map((ref) => copy.directory.findProject(ref, soon()));
    for (const decision of await Promise.allSettled(asked)) {
      expect(decision).toMatchObject({ status: 'rejected', reason: { code: 'unavailable', retryAfterSeconds: 1 } });
    }
    await expect(copy.directory.requireFresh(soon())).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('keeps waiting for the copy while identity does not answer', async () => {
    pauseCopy();
    const waits = watchWaits();
    identity.decision = {};
    identity.thinksUntil = new Promise(() => undefined);
    const version = identity.commit(['membership', membership(500, 1, ['project', 100], 40)]);
    const waiting = [
      copy.directory.findProject(100, viewer(1, version)),
      copy.directory.requireFresh(viewer(1, version)),
    ];
    await until(() => waits.begun() === 4);
    const isStill = new Promise((resolve) => setTimeout(resolve, 500, 'waiting'));
    expect(await Promise.race([...waiting, isStill])).toBe('waiting');
    identity.shownUpTo = Infinity;
    identity.wake();
    expect((await Promise.all(waiting))[0]).toMatchObject({ level: 40 });
    expect(await outcome('waited')).toBe(2);
  });

  it('does not wait past the deadline of the request', async () => {
    await restart({ DIRECTORY_WAIT_MS: '50000' });
    pauseCopy();
    const waits = watchWaits();
    for (const left of [-1, 50]) {
      const late = viewer(1, 2, { deadline: Date.now() + left });
      await expect(copy.directory.requireFresh(late)).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect(waits.patience().every((ms) => ms <= 50)).toBe(true);
    expect(waits.begun()).toBe(2);
  });

  it('serves anonymous callers only from a copy that was current within a minute', async () => {
    identity.commit(['project', project(100, 10, { visibility: 'public' })]);
    await until(async () => (await copy.position()).version === 2);
    identity.isAsleep = true;
    expect(await copy.directory.findProject(100, viewer(null, 1))).toMatchObject({ level: 0 });
    const hasty = (): Viewer => viewer(null, 1, { deadline: Date.now() + 1000 });
    // An earlier answer of identity may still be stored.
    await until(async () => {
      await copy.database.query(`update directory_state set refreshed_at = now() - interval '61 seconds'`);
      const error = await copy.directory.findProject(100, hasty()).catch((thrown: unknown) => thrown);
      return (error as { code?: string } | null)?.code === 'unavailable';
    }, 'the refusal');
    await expect(copy.directory.findProject(100, hasty())).rejects.toMatchObject({ code: 'unavailable' });
    expect(await copy.directory.findProject(100, viewer(1, 1))).toMatchObject({ id: 100 });
  });

  it('refuses users who were blocked or deleted after their token was checked', async () => {
    identity.commit(['project', project(100, 10, { visibility: 'public' })], ['user', user(1, { state: 'blocked' })]);
    await until(async () => (await copy.position()).version === 2);
    await expect(copy.directory.findProject(100, viewer(1, 1))).rejects.toMatchObject({ code: 'forbidden' });
    await expect(copy.directory.requireFresh(viewer(1, 1))).rejects.toMatchObject({ code: 'forbidden' });
    await expect(copy.directory.findGroup(10, viewer(77, 1))).rejects.toMatchObject({ code: 'unauthorized' });
  });
});
