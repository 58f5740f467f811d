import type { DirectoryChange, DirectoryKind } from '@rookery/contracts';
import { DIRECTORY_KINDS, INTERNAL_PATHS, problemsOf, userCreated } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import { until } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Client } from 'pg';
import { ChangeLogCompactionJob } from '../../src/directory/compaction.job';
import { ChangeLogHistoriesService } from '../../src/directory/history/histories.service';
import { DirectoryLog } from '../directory-log';

/** Collects all statements that the transaction sends from here on. */
function collectStatements(tx: Tx, sent: string[]): void {
  const client = (tx.manager.queryRunner as unknown as { databaseConnection: Client }).databaseConnection;
  const send = client.query.bind(client) as (...given: unknown[]) => unknown;
  const spy = jest.spyOn(client, 'query') as unknown as jest.SpyInstance<unknown, unknown[]>;
  spy.mockImplementation((...given) => {
    const [first] = given;
    sent.push(typeof first === 'string' ? first : (first as { text: string }).text);
    if (sent.at(-1) === 'COMMIT') spy.mockRestore();
    return send(...given);
  });
}

describe('the change log of the directory', () => {
  let database: TestDatabase;
  let identity: DirectoryLog;

  beforeEach(async () => {
    database = await DirectoryLog.database();
    identity = await DirectoryLog.start(database.url);
  });

  afterEach(async () => {
    await identity.stop();
    await database.drop();
  });

  async function one(tx: Tx, sql: string, values: readonly unknown[] = []): Promise<number> {
    const [row] = await tx.query<{ id: number }>(`${sql} returning id`, values);
    return row!.id;
  }
  const user = (tx: Tx, username: string): Promise<number> =>
    one(tx, `insert into users (username, name, email, confirmed_at) values ($1, $1, $1 || '@mail.example', now())`, [
      username,
    ]);
  async function group(tx: Tx, path: string, parent: number | null = null): Promise<number> {
    const id = await one(
      tx,
      `insert into namespaces (kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
       values ('group', $2, '{}', $1, $1, $1, coalesce((select full_path || '/' from namespaces where id = $2), '') || $1, 'private', 'free')`,
      [path, parent],
    );
    await tx.query(
      `update namespaces set traversal_ids = coalesce((select traversal_ids from namespaces where id = $2), '{}') || id where id = $1`,
      [id, parent],
    );
    return id;
  }
  const project = (tx: Tx, namespace: number, path: string): Promise<number> =>
    one(tx, `insert into projects (namespace_id, name, path, visibility) values ($1, $2, $2, 'private')`, [
      namespace,
      path,
    ]);
  const member = (tx: Tx, userId: number, type: string, id: number): Promise<number> =>
    one(tx, `insert into members (user_id, source_type, source_id, access_level) values ($1, $2, $3, 30)`, [
      userId,
      type,
      id,
    ]);
  const count = async (sql: string): Promise<number> =>
    (await identity.database.query<{ count: number }>(`select count(*)::int as count ${sql}`))[0]!.count;
  const lockHolders = (): Promise<number> =>
    count(`from pg_locks where relation = 'directory_head'::regclass and mode = 'RowExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`);
  const lockWaiters = (): Promise<number> =>
    count(`from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
  const keys = (changes: readonly DirectoryChange[]): string[] =>
    changes.map((change) => `${change.kind} ${change.id}`);

  it('writes all changes of a transaction under one version, as states of the contract', async () => {
    const made = await identity.work.run(async (tx) => {
      const ids = { user: await user(tx, 'ann'), namespace: await group(tx, 'crew') };
      const projectId = await project(tx, ids.namespace, 'nest');
      const membership = await member(tx, ids.user, 'project', projectId);
      const share = await one(
        tx,
        `insert into shares (source_type, source_id, group_id, access_level, expires_on) values ('project', $1, $2, 20, '2027-01-31')`,
        [projectId, ids.namespace],
      );
      for (const [kind, id] of Object.entries({ ...ids, project: projectId, membership, share })) {
        identity.log.recordChange(tx, kind as DirectoryKind, id);
        identity.log.recordChange(tx, kind as DirectoryKind, id);
      }
      identity.log.recordToken(tx, 77);
      expect(identity.log.versionOf(tx)).toBeNull();
      return { tx, ids };
    });
    const { changes, head, upTo } = await identity.all();
    expect(identity.log.versionOf(made.tx)).toMatchObject({ version: 1 });
    expect([head, upTo, new Set(changes.map((change) => change.version))]).toEqual([1, 1, new Set([1])]);
    expect(changes.map((change) => change.kind)).toEqual([
      'user',
      'namespace',
      'project',
      'membership',
      'share',
      'token',
    ]);
    for (const { kind, id, state } of changes) {
      if (kind === 'token') expect([id, state]).toEqual([77, null]);
      else expect([kind, problemsOf(DIRECTORY_KINDS[kind], state)]).toEqual([kind, []]);
    }
    expect(changes[0]?.state).toMatchObject({ username: 'ann', notification_email: 'ann@mail.example' });
    expect(changes[4]?.state).toMatchObject({ expires_on: '2027-01-31', access_level: 20 });
  });

  it("contains the group or project of a token's bot, whichever of its tokens gives it", async () => {
    const made = await identity.work.run(async (tx) => {
      const ids: number[] = [];
      for (const [place, name] of ['group', 'project', null].entries()) {
        const id = await user(tx, `bot-${name}`);
        await tx.query(`update users set kind = 'project_bot' where id = $1`, [id]);
        for (const [turn, resource] of [name, null].entries()) {
          await tx.query(
            `insert into access_tokens (user_id, name, digest, scopes, family_id, resource_type, resource_id, access_level)
             values ($1, 'x', sha256($2::text::bytea), '{api}', 1, $3::text, $4, $5)`,
            [id, `${name} ${turn}`, resource, resource && 70 + place, resource && 30],
          );
        }
        identity.log.recordChange(tx, 'user', id);
        ids.push(id);
      }
      return ids;
    });
    const homes = (await identity.all()).changes.map(({ id, state }) => [
      id,
      state!['bot_group_id'],
      state!['bot_project_id'],
    ]);
    expect(homes).toEqual([
      [made[0], 70, null],
      [made[1], null, 71],
      [made[2], null, null],
    ]);
  });

  it('plans the write of states once per connection, because all other commits wait for it', async () => {
    const plans = await identity.work.run(async (tx) => {
      identity.log.recordChange(tx, 'user', await user(tx, 'ann'));
      const counted: { generic_plans: string; custom_plans: string }[] = [];
      tx.beforeCommitLast(async () => {
        const name = 'directory_write_changes';
        const sql = 'select generic_plans, custom_plans from pg_prepared_statements where name = $1';
        counted.push(...(await tx.query<(typeof counted)[number]>(sql, [name])));
      });
      return counted;
    });
    expect(plans.map((row) => [Number(row.generic_plans) > 0, Number(row.custom_plans)])).toEqual([[true, 0]]);
  });

  it('writes nothing when the transaction fails, and uses no version', async () => {
    await expect(
      identity.work.run(async (tx) => {
        identity.log.recordChange(tx, 'user', await user(tx, 'ann'));
        tx.beforeCommit(() => Promise.reject(new Error('no')));
      }),
    ).rejects.toThrow('no');
    await identity.work.run(async (tx) => identity.log.recordChange(tx, 'user', await user(tx, 'bob')));
    expect(await identity.all()).toMatchObject({ head: 1, changes: [{ version: 1, state: { username: 'bob' } }] });
  });

  it('gives 16 writers dense versions, and shows readers all of them in order', async () => {
    const writers = 16;
    const each = 50;
    let isDone = false;
    const seen: number[] = [];
    const reader = (async () => {
      let position = { upTo: 0, epoch: '' };
      while (!isDone || position.upTo < writers * each) {
        const answer = await identity.changes({
          after: position.upTo,
          epoch: position.epoch,
          wait_ms: 500,
          limit: 100,
        });
        seen.push(...answer.changes.map((change) => change.version));
        position = answer;
      }
    })();
    const started = performance.now();
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let round = 0; round < each; round++) {
          await identity.work.run(async (tx) => {
            const id = await user(tx, `w${writer}_${round}`);
            identity.log.recordChange(tx, 'user', id);
            // Long and short transactions concurrently.
            if (round % 5 === writer % 5) await tx.query('select pg_sleep(0.01)');
          });
        }
      }),
    );
    const seconds = (performance.now() - started) / 1000;
    isDone = true;
    await reader;
    expect(seen).toEqual(Array.from({ length: writers * each }, (_, i) => i + 1));
    const [count] = await identity.database.query<{ count: number }>(
      'select count(*)::int as count from directory_changes',
    );
    expect(count?.count).toBe(writers * each);
    process.stdout.write(`change log: ${Math.round((writers * each) / seconds)} versions/s with ${writers} writers\n`);
  });

  it('includes in a version the changes that lower versions made to the same row', async () => {
    const id = await identity.work.run(async (tx) => {
      const made = await user(tx, 'ann');
      identity.log.recordChange(tx, 'user', made);
      return made;
    });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    // The first has its version and has not committed; the second has only recorded the user and waits for its own
    // version.
    const first = identity.work.run(async (tx) => {
      await tx.query(`update users set name = 'New name' where id = $1`, [id]);
      identity.log.recordChange(tx, 'user', id);
      tx.beforeCommitLast(() => held);
    });
    const second = identity.work.run(async (tx) => {
      await until(async () => (await lockHolders()) > 0);
      identity.log.recordChange(tx, 'user', id);
    });
    await until(async () => (await lockWaiters()) > 0);
    release();
    await Promise.all([first, second]);
    const { changes } = await identity.all();
    expect(changes.at(-1)?.state).toMatchObject({ name: 'New name' });
  });

  it('has sent the commit before it waits for other transactions, so that these never wait for this process', async () => {
    const sent: string[] = [];
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    try {
      await holder.query('begin; select 1 from directory_head for update');
      const pendingWrite = identity.work.run(async (tx) => {
        identity.log.recordChange(tx, 'user', await user(tx, 'ann'));
        collectStatements(tx, sent);
      });
      await until(async () => (await lockWaiters()) > 0);
      expect(sent.map((sql) => sql.split(' ', 1)[0])).toEqual(['with', 'insert', 'COMMIT']);
      await holder.query('rollback');
      await pendingWrite;
    } finally {
      await holder.end();
    }
    expect(await identity.all()).toMatchObject({ head: 1, changes: [{ version: 1, state: { username: 'ann' } }] });
  });

  it('gets the version before the commit when an event needs it', async () => {
    const sent: string[] = [];
    await identity.work.run(async (tx) => {
      const id = await user(tx, 'ann');
      identity.log.recordChange(tx, 'user', id);
      const data = { user_id: id, username: 'ann', created_at: new Date().toISOString() };
      identity.log.emit(tx, userCreated.of({ aggregateId: id, actorId: null, data }));
      collectStatements(tx, sent);
    });
    expect(sent.map((sql) => sql.split(' ', 1)[0])).toEqual(['update', 'insert', 'insert', 'COMMIT']);
    const [told] = await identity.database.query('select directory_version from outbox');
    expect(told).toEqual({ directory_version: 1 });
  });

  it('records a whole subtree in one version, and nothing else', async () => {
    const ids = await identity.work.run(async (tx) => {
      const top = await group(tx, 'top');
      const sub = await group(tx, 'sub', top);
      return { top, sub, leaf: await group(tx, 'leaf', sub), beside: await group(tx, 'beside', top) };
    });
    await identity.work.run((tx) => identity.log.recordSubtree(tx, ids.sub));
    const { changes } = await identity.all();
    expect(keys(changes)).toEqual([`namespace ${ids.sub}`, `namespace ${ids.leaf}`]);
  });

  it('writes tombstones of all dependents of a group, a project or a user', async () => {
    const ids = await identity.work.run(async (tx) => {
      const ann = await user(tx, 'ann');
      const own = await one(
        tx,
        `insert into namespaces (kind, owner_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
         values ('user', $1, '{}', 'ann', 'ann', 'ann', 'ann', 'public', 'free')`,
        [ann],
      );
      await tx.query('update namespaces set traversal_ids = array[id] where id = $1', [own]);
      const crew = await group(tx, 'crew');
      const guests = await group(tx, 'guests');
      const code = await project(tx, crew, 'code');
      const hers = await project(tx, own, 'hers');
      const share = (type: string, source: number, invited: number): Promise<number> =>
        one(tx, `insert into shares (source_type, source_id, group_id, access_level) values ($1, $2, $3, 20)`, [
          type,
          source,
          invited,
        ]);
      return {
        ...{ ann, own, crew, guests, code, hers },
        inCrew: await member(tx, ann, 'namespace', crew),
        inCode: await member(tx, ann, 'project', code),
        guestsInCode: await share('project', code, guests),
        crewInHers: await share('project', hers, crew),
      };
    });
    await identity.work.run(async (tx) => {
      await identity.log.recordWithBelongings(tx, 'namespace', ids.crew);
      await tx.query('delete from members where source_id in ($1, $2)', [ids.crew, ids.code]);
      await tx.query('delete from shares where source_id = $1 or group_id = $2', [ids.code, ids.crew]);
      await tx.query('delete from projects where id = $1', [ids.code]);
      await tx.query('delete from namespaces where id = $1', [ids.crew]);
    });
    const gone = (await identity.all()).changes;
    expect(gone.every((change) => change.state === null)).toBe(true);
    expect(new Set(keys(gone))).toEqual(
      new Set([
        `namespace ${ids.crew}`,
        `project ${ids.code}`,
        `membership ${ids.inCrew}`,
        `membership ${ids.inCode}`,
        `share ${ids.guestsInCode}`,
        `share ${ids.crewInHers}`,
      ]),
    );
    await identity.work.run((tx) => identity.log.recordWithBelongings(tx, 'user', ids.ann));
    const hers = (await identity.changes({ after: 1, epoch: (await identity.all()).epoch })).changes;
    expect(keys(hers)).toEqual([`user ${ids.ann}`, `namespace ${ids.own}`, `project ${ids.hers}`]);
  });

  describe('the change log for readers', () => {
    const people = (count: number): Promise<void> =>
      identity.work.run(async (tx) => {
        for (let i = 0; i < count; i++)
          identity.log.recordChange(tx, 'user', await user(tx, `p${Math.random().toString(36).slice(2)}`));
      });

    it('is read in whole versions', async () => {
      for (const count of [1, 3, 2]) await people(count);
      const { epoch } = await identity.all();
      const pages = [];
      for (let after = 0; after < 3;) {
        const page = await identity.changes({ after, epoch, limit: 2 });
        expect(page).toMatchObject({ head: 3, epoch });
        pages.push(page.changes.map((change) => change.version));
        after = page.upTo;
      }
      expect(pages).toEqual([
        [1, 2, 2, 2],
        [3, 3],
      ]);
    });

    it('restarts at once for a reader of another epoch', async () => {
      await people(1);
      const answer = await identity.changes({ after: 500, epoch: 'other', wait_ms: 20_000 });
      expect(answer).toMatchObject({ head: 1, upTo: 1, changes: [{ version: 1 }] });
    });

    it('wakes a waiting reader after a commit here and one after a commit of another replica, long before its wait ends', async () => {
      const { epoch } = await identity.all();
      const replica = await DirectoryLog.start(database.url);
      try {
        const waits = [identity, replica].map(async (server) => {
          const answer = await server.changes({ after: 0, epoch, wait_ms: 20_000 });
          return { answer, at: performance.now() };
        });
        await new Promise((resolve) => setTimeout(resolve, 50));
        await people(1);
        const committedAt = performance.now();
        const [here, there] = await Promise.all(waits);
        expect([here?.answer.upTo, there?.answer.upTo]).toEqual([1, 1]);
        for (const reader of [here, there]) expect(reader!.at - committedAt).toBeLessThan(12_000);
      } finally {
        await replica.stop();
      }
    });

    it('answers a poll without changes after its wait', async () => {
      const { epoch } = await identity.all();
      const started = performance.now();
      expect(await identity.changes({ after: 0, epoch, wait_ms: 120 })).toMatchObject({ upTo: 0, changes: [] });
      expect(performance.now() - started).toBeGreaterThan(110);
    });

    it('requires an internal key and refuses invalid requests', async () => {
      const url = `${identity.url}${INTERNAL_PATHS.directoryChanges}`;
      expect((await fetch(`${url}?after=0`)).status).not.toBe(200);
      await expect(identity.changes({ after: 'x' })).rejects.toThrow('answered 400');
    });
  });

  it('loses only superseded entries to compaction, and reports the horizon', async () => {
    const id = await identity.work.run(async (tx) => {
      const made = await user(tx, 'ann');
      identity.log.recordChange(tx, 'user', made);
      return made;
    });
    for (let round = 0; round < 5; round++) {
      await identity.work.run(async (tx) => {
        await tx.query('update users set name = $2 where id = $1', [id, `Name ${round}`]);
        identity.log.recordChange(tx, 'user', id);
        identity.log.recordToken(tx, 1);
      });
    }
    const job = identity.app.get(ChangeLogCompactionJob);
    expect(await job.run()).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await job.run(0)).toBe(10);
    expect(await identity.all()).toMatchObject({
      compactedTo: 6,
      head: 6,
      changes: [{ version: 6, state: { name: 'Name 4' } }],
    });
  });

  it('is rewritten from the tables under another epoch', async () => {
    await identity.work.run(async (tx) => {
      const crew = await group(tx, 'crew');
      for (let i = 0; i < 1500; i++) await member(tx, await user(tx, `u${i}`), 'namespace', crew);
      identity.log.recordChange(tx, 'namespace', crew);
    });
    const before = await identity.all();
    const head = await identity.app.get(ChangeLogHistoriesService).startHistory();
    const after = await identity.changes({ after: 0, epoch: head.epoch, limit: 10_000 });
    expect(head.epoch).not.toBe(before.epoch);
    expect(after).toMatchObject({ epoch: head.epoch, head: 5, upTo: 5, compactedTo: 5 });
    expect(after.changes).toHaveLength(3001);
    expect(new Set(after.changes.map((change) => change.version))).toEqual(new Set([2, 3, 4, 5]));
    await identity.work.run(async (tx) => identity.log.recordChange(tx, 'user', await user(tx, 'next')));
    expect((await identity.changes({ after: 5, epoch: head.epoch })).changes).toMatchObject([{ version: 6 }]);
  });
});
