import { Unavailable } from '@rookery/kernel';
import type { DirectoryChangesAnswer } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import { until, untilBlocked } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Client } from 'pg';
import { ChangeLogHistoriesService } from '../../src/directory/history/histories.service';
import { DirectoryLog } from '../directory-log';

/**
 * A restore is simulated by changing the stored identity of the database: the service finds the same as after a
 * restore.
 */
const AS_RESTORED = `update directory_head set history = '1.2.00000001'`;

describe('the history of the directory', () => {
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

  const reader = 'collaboration';
  async function restart(): Promise<void> {
    await identity.stop();
    identity = await DirectoryLog.start(database.url);
  }
  const made = (name: string): Promise<number> =>
    identity.work.run(async (tx: Tx) => {
      const [row] = await tx.query<{ id: number }>(
        `insert into users (username, name, email) values ($1, $1, $1 || '@mail.example') returning id`,
        [name],
      );
      identity.log.recordChange(tx, 'user', row!.id);
      return row!.id;
    });
  const at = ({ epoch, life, upTo }: DirectoryChangesAnswer, more: Readonly<Record<string, string | number>> = {}) =>
    identity.changes({ after: upTo, epoch, life: life ?? '', reader, ...more });

  it('continues through restarts, with a new life each', async () => {
    await made('ann');
    const before = await identity.all();
    await restart();
    await made('bob');
    const after = await at(before);
    expect(after).toMatchObject({ epoch: before.epoch, head: 2, changes: [{ state: { username: 'bob' } }] });
    expect(after.life).not.toBe(before.life);
    await restart();
    expect((await at(after)).epoch).toBe(before.epoch);
  });

  it('is verified before the first answer, however often the check fails', async () => {
    const before = await identity.all();
    await identity.database.query(AS_RESTORED);
    await identity.stop();
    const [holder, other] = [database.url, database.url].map((connectionString) => new Client({ connectionString }));
    await Promise.all([holder!.connect(), other!.connect()]);
    await holder!.query('begin');
    await holder!.query('select 1 from directory_head for update');
    let isThere = false;
    const starting = DirectoryLog.start(database.url).finally(() => (isThere = true));
    for (let failures = 0; failures < 4; failures += 1) {
      await untilBlocked((sql) => other!.query(sql));
      await other!.query(
        `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
    }
    await untilBlocked((sql) => other!.query(sql));
    expect(isThere).toBe(false);
    await Promise.all([holder!.end(), other!.end()]);
    identity = await starting;
    expect((await identity.all()).epoch).not.toBe(before.epoch);
  });

  it('ends when the process finds another database at its start', async () => {
    await made('ann');
    const before = await identity.all();
    await identity.database.query(AS_RESTORED);
    await restart();
    const after = await identity.changes({ after: 0, epoch: '' });
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.head).toBeGreaterThan(before.head);
    expect(after.changes.map(({ state }) => state?.['username'])).toEqual(['ann']);
    await restart();
    expect((await identity.all()).epoch).toBe(after.epoch);
  });

  it('ends when the database is replaced under a running process, which writes nothing before', async () => {
    await made('ann');
    const before = await identity.all();
    await identity.database.query(AS_RESTORED);
    await expect(made('bob')).rejects.toThrow(Unavailable);
    await until(async () => (await identity.all()).epoch !== before.epoch);
    await made('cid');
    expect((await identity.all()).changes.map(({ state }) => state?.['username'])).toEqual(['ann', 'cid']);
  });

  it('ends when a copy of the same epoch is ahead; the new one starts above all sent versions', async () => {
    await made('ann');
    const before = await identity.all();
    const after = await identity.changes({ after: 40, epoch: before.epoch, life: before.life!, reader });
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.head).toBeGreaterThan(40);
    expect(after.changes).toHaveLength(1);
  });

  it('ends when a copy has a version beyond the end of its life, although that version was reached again', async () => {
    await made('ann');
    const dump = await identity.all();
    // The copy has seen one more version of the first life, which the restore lost.
    const lost = { ...dump, upTo: dump.upTo + 1 };
    await restart();
    await made('eve');
    await made('eva');
    expect((await at(lost)).epoch).not.toBe(dump.epoch);
  });

  it('ends when a copy reports a life that the database does not know', async () => {
    await made('ann');
    const before = await identity.all();
    expect((await at({ ...before, life: 'lost' })).epoch).not.toBe(before.epoch);
  });

  it('issues no id before every copy has reported the ids it has seen, and then none of those', async () => {
    await made('ann');
    const before = await identity.all();
    await at(before);
    await identity.changes({ after: 1, epoch: before.epoch, life: before.life!, reader: 'admin' });
    await identity.database.query(AS_RESTORED);
    await restart();

    await expect(made('bob')).rejects.toMatchObject({ reason: 'restored' });
    await identity.work.run((tx) => Promise.resolve(identity.log.recordChange(tx, 'user', 1)));
    await at(before, { seen: JSON.stringify({ user: 40, project: 7 }) });
    await expect(made('bob')).rejects.toMatchObject({ reason: 'restored' });
    await identity.changes({ after: 0, epoch: '', reader: 'admin', seen: JSON.stringify({ user: 60 }) });
    expect(await made('bob')).toBe(61);

    // A copy that was disconnected all the time has seen more ids: none of them is issued from now on.
    await at(before, { seen: JSON.stringify({ user: 90 }) });
    expect(await made('cid')).toBe(91);
    const [project] = await identity.database.query<{ next: number }>(
      `select nextval(pg_get_serial_sequence('projects', 'id')) as next`,
    );
    expect(project?.next).toBe(8);
  });

  it('starts once, however many copies are ahead', async () => {
    await made('ann');
    const { epoch, life = '' } = await identity.all();
    const answers = await Promise.all(
      ['collaboration', 'import', 'package', 'admin'].map((name) =>
        identity.changes({ after: 9, epoch, life, reader: name }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.epoch)).size).toBe(1);
    expect((await identity.app.get(ChangeLogHistoriesService).startHistory()).epoch).not.toBe(answers[0]?.epoch);
  });

  it('refuses invalid reports of seen ids', async () => {
    for (const seen of ['x', '[', '{"user":-1}', '{"user":"1"}', '7'])
      await expect(identity.changes({ after: 0, epoch: '', reader, seen })).rejects.toThrow('answered 400');
  });
});
