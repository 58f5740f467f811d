import { join } from 'node:path';
import { runMigrations } from '@rookery/persistence';
import type { Database, PreparedStatement, Work } from '@rookery/persistence';
import {
  expectPlan,
  nodesOf,
  planOf,
  countReadRows,
  startNats,
  testDatabase,
  until,
  vacuumUntilVisible,
} from '@rookery/testing';
import type { Planned, PlanNode, PrivateNats, SeededService, SeededUser, TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { migrations } from '../../src/database';
import type { MailerSettings } from '../../src/following/notifications/mailer/mailer.config';
import { issueKind } from '../../src/work/issues/issue.kind';
import {
  selectSendableNoteableMailsSql,
  selectSendableMessagesOfCombinedMailsSql,
  sendableMailsSql,
} from '../../src/following/notifications/due-sql';
import { MailTable } from '../../src/following/notifications/mailer/mail-table';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

const WAITING = 100_000;
const PEOPLE = 16;
/** Number of due e-mails of the same users when the mailer starts. */
const FRESH = 5000;
const SETTINGS = { leaseMs: 600_000, batchCount: 60, perMinute: 30 };
const table = new MailTable('mails', 'update mails m set');
const planClaim: Planned = (db) => table.claimMails(db, '0197a000-0000-7000-8000-000000000001', SETTINGS);
const planSettle: Planned = (db: Database) =>
  table.settleMails(
    { prepared: (statement, values) => db.run({ ...statement, values }) },
    [1, 2, 3, 4, 5].map((id) => ({ id, state: 'sent', reply: null, messageId: null, delayMs: 0 })),
  );
const planPostpone: Planned = (db: Database) => {
  const tx = {
    prepared: (statement: PreparedStatement, values: readonly unknown[]) =>
      db.run({ ...statement, values }).then(() => []),
  };
  const work = { run: (use: (given: typeof tx) => unknown) => use(tx) } as unknown as Work;
  return new MailTable('mails', 'update mails m set').postponeBlocked(work, {
    ...SETTINGS,
    burst: 60,
  } as MailerSettings);
};
const KEYS = ['pk_mails', 'ix_mails_gathered_into'];
/** Statements that check whether e-mails are still due. `$1` of each are ids. */
const checks: Readonly<Record<string, Planned>> = {
  loaded: {
    text: selectSendableNoteableMailsSql(issueKind),
    values: [
      [1, 2],
      [null, null],
    ],
  },
  'still due': { text: `select m.id ${sendableMailsSql(issueKind)}`, values: [[1, 2]] },
  gathered: { text: selectSendableMessagesOfCombinedMailsSql(issueKind), values: [[1, 2]] },
};
const planIsDue: Planned = (db: Database) => table.isDue(db);

const sent = `
  insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, state)
    select gen_random_uuid(), 1 + g % 1000, 'issue_closed', 100, 1, 'Issue', g, 'sent' from generate_series(1, 20000) g;
  analyze mails;
`;
/** 100,000 postponed e-mails of 16 users, and 5 due ones. */
const waiting = `
  insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id,
      next_attempt_at, allowed_at, created_at)
    select gen_random_uuid(), 1 + g % ${PEOPLE}, 'issue_closed', 100, 1, 'Issue', 1 + g % 5000,
      now() + g % 5000 * interval '1 hour', now() + g % 5000 * interval '1 hour', now() - interval '1 day'
    from generate_series(${PEOPLE}, ${WAITING} + ${PEOPLE - 1}) g where g % 5000 > 0;
  insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id)
    select gen_random_uuid(), 1000 + g, 'issue_closed', 100, 1, 'Issue', 1 from generate_series(1, 5) g;
  insert into mail_allowances (recipient_id, tokens, refilled_at)
    select g, case when g <= ${PEOPLE} then -6000 else 60 end, now() from generate_series(1, 3000) g;
`;

describe('plans', () => {
  let database: TestDatabase;
  let pool: Pool;
  /** Plans made while no e-mails wait, and reused when many do. */
  let settledEarly: PlanNode;
  const earlyChecks = new Map<string, PlanNode>();
  beforeAll(async () => {
    database = await testDatabase('collaboration', migrations);
    await runMigrations(database.url, migrations);
    pool = new Pool({ connectionString: database.url, max: 1 });
    for (const [name, one] of Object.entries(checks)) earlyChecks.set(name, await planOf(pool, one));
    await pool.query(sent);
    settledEarly = await planOf(pool, planSettle);
    await pool.query(waiting);
    await vacuumUntilVisible(pool);
  }, 300_000);
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  test.each([
    ['notifications/mails-taken', planClaim],
    ['notifications/mails-looked-for', planIsDue],
  ])('%s keeps its plan', async (name, planned) => {
    const shape = await expectPlan(pool, join(__dirname, '../golden', name), planned);
    expect(shape).not.toMatch(/Seq Scan on (mails|mail_allowances)/);
  });

  test.each(Object.keys(checks))('the check %s starts from the e-mail and uses its keys', async (name) => {
    for (const plan of [earlyChecks.get(name)!, await planOf(pool, checks[name]!)]) {
      const nodes = nodesOf(plan);
      const whole = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'mails');
      const indexes = nodes.flatMap((node) => node['Index Name'] ?? []).filter((index) => index.includes('mails'));
      expect([...whole, ...indexes.filter((index) => !KEYS.includes(index))]).toEqual([]);
      expect(indexes).not.toEqual([]);
    }
  });

  test('claiming due e-mails reads none of 100,000 postponed ones', async () => {
    const plan = await planOf(pool, planClaim, 'run');
    expect(countReadRows(plan, 'mails')).toBeLessThan(20);
  });

  test('storing results reads none of 100,000 postponed e-mails', async () => {
    for (const plan of [settledEarly, await planOf(pool, planSettle)]) {
      const by = nodesOf(plan).map((node) => node['Index Name']);
      expect(by.filter((index) => index !== undefined)).toEqual(['pk_mails']);
    }
  });
});

test('postponing reads only one batch of 50,000 new e-mails', async () => {
  const database = await testDatabase('collaboration', migrations);
  await runMigrations(database.url, migrations);
  const pool = new Pool({ connectionString: database.url, max: 1 });
  try {
    await pool.query(`
      insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id)
        select gen_random_uuid(), 1 + g % ${PEOPLE}, 'note_created', 100, 1, 'Issue', 1 from generate_series(1, 50000) g;
      insert into mail_allowances (recipient_id, tokens, refilled_at) select g, 0, now() + interval '1 hour' from generate_series(1, 3000) g;`);
    await vacuumUntilVisible(pool);
    const plan = await planOf(pool, planPostpone, 'run');
    expect(countReadRows(plan, 'mails')).toBeGreaterThanOrEqual(2000);
    expect(countReadRows(plan, 'mails')).toBeLessThan(5000);
  } finally {
    await pool.end();
    await database.drop();
  }
});

describe('a running mailer', () => {
  let service: SeededService;
  let nats: PrivateNats;
  let smtp: MailServer;
  let worker: Worker | undefined;
  beforeAll(async () => {
    service = await startCollaboration();
    nats = await startNats();
    smtp = await startMailServer();
  });
  afterAll(async () => {
    await worker?.stop();
    await smtp.stop();
    await nats.drop();
    await service.close();
  });
  const query = <R>(sql: string, values: readonly unknown[] = []) => service.database.query<R>(sql, values);

  test('writes postponed e-mails once, and they do not delay others', async () => {
    const project = await service.seed.project();
    const people: SeededUser[] = [];
    for (let n = 0; n <= PEOPLE; n += 1) people.push(await service.seed.user());
    const other = people.pop()!;
    const issues = await query<{ id: number }>(
      `insert into issues (project_id, iid, author_id, title) select $1, g, $2, 'Title' from generate_series(1, 10) g returning id`,
      [project.id, other.id],
    );
    const insert = (count: number, waits: string) =>
      query(
        `insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, created_at,
           next_attempt_at, allowed_at)
         select gen_random_uuid(), ($1::bigint[])[1 + g % ${PEOPLE}], 'issue_closed', $2, $3, 'Issue', ($4::bigint[])[1 + g % 10],
           now() - interval '1 hour', ${waits} from generate_series(1, $5::integer) g`,
        [people.map((one) => one.id), other.id, project.id, issues.map((one) => one.id), count],
      );
    for (let queued = 0; queued < WAITING; queued += 10_000)
      await insert(10_000, `now() + interval '1 hour', now() + interval '1 hour'`);
    await insert(FRESH, `now() - interval '1 hour', null`);
    await query(
      `insert into mail_allowances (recipient_id, tokens, refilled_at) select unnest($1::bigint[]), 0, now()`,
      [people.map((one) => one.id)],
    );
    const toOther = () =>
      query(
        `insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id)
         values (gen_random_uuid(), $1, 'issue_closed', $2, $3, 'Issue', $4)`,
        [other.id, people[0]!.id, project.id, issues[0]!.id],
      );
    await toOther();
    worker = await startWorker({
      databaseUrl: service.databaseUrl,
      nats,
      env: { SMTP_URL: smtp.url, MAILER_POLL_MS: '20', MAILER_PER_RECIPIENT_PER_MINUTE_COUNT: '1' },
    });
    // This e-mail is behind all of them in the queue.
    await until(() => smtp.mails.length === 1, 'the mail of the other');
    const left = async () =>
      (
        await query<{ count: number }>(`select count(*)::int from mails where state = 'queued' and allowed_at is null`)
      )[0]!.count;
    await until(async () => (await left()) === 0, 'all put off');
    const writes = async () => {
      const [row] = await query<{ places: string; tries: number }>(
        `select md5(string_agg(ctid::text, ',' order by id)) as places, sum(attempts)::int as tries from mails
         where state = 'queued' and recipient_id <> $1`,
        [other.id],
      );
      return row;
    };
    const before = await writes();
    for (let count = 2; count <= 6; count += 1) {
      await toOther();
      await until(() => smtp.mails.length === count, 'the next mail of the other');
    }
    expect(await writes()).toEqual(before);
    expect(before!.tries).toBe(0);
  }, 300_000);
});
