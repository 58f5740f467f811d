import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DirectoryProject } from '@rookery/contracts';
import { runMigrations, Work } from '@rookery/persistence';
import type { Database } from '@rookery/persistence';
import { expectPlan, nodesOf, planOf, startNats, testDatabase, until, vacuumUntilVisible } from '@rookery/testing';
import type { PlanNode, SeededService, SeededUser } from '@rookery/testing';
import { Pool } from 'pg';
import { NoteableKinds } from '../../src/base/noteables/noteable-kinds';
import { migrations } from '../../src/database';
import { Mailer } from '../../src/following/notifications/mailer/mailer';
import { NoteableMailEnqueuer } from '../../src/following/notifications/noteable-mail-enqueuer';
import { WatcherMailsJob } from '../../src/following/notifications/watching/watcher-mails.job';
import { watchers, WATCHERS_LIMIT } from '../../src/following/notifications/watching/watchers';
import { epicKind } from '../../src/work/epics/epic.kind';
import { issueKind } from '../../src/work/issues/issue.kind';
import { startCollaboration } from '../support/app';
import { startWorker } from '../support/worker';

const PEOPLE = 2 * WATCHERS_LIMIT + 200;

describe('many users who watch a project', () => {
  let service: SeededService;
  let project: DirectoryProject;
  let author: SeededUser;
  let issue: number;
  beforeAll(async () => void (service = await startCollaboration()));
  afterAll(() => service.close());
  const query = <R>(sql: string, values: readonly unknown[] = []) => service.database.query<R>(sql, values);
  beforeEach(async () => {
    for (const table of ['mails', 'mail_fan_outs', 'notification_settings']) await query(`delete from ${table}`);
    project = await service.seed.project();
    author = await service.seed.user();
    const rows = await query<{ id: number }>(
      `insert into issues (project_id, iid, author_id, title) values ($1, 1, $2, 'Title') returning id`,
      [project.id, author.id],
    );
    issue = rows[0]!.id;
    await query(
      `insert into directory_users (id, username, name, state, kind, admin, external, private_profile, notification_email, created_at)
       select 1000000 + g, 'watcher' || g, 'Watcher', 'active', 'human', false, false, false, 'w' || g || '@mail.example', now()
       from generate_series(1, $1::integer) g on conflict do nothing`,
      [PEOPLE],
    );
    await query(
      `insert into notification_settings (user_id, source_type, source_id, level)
       select 1000000 + g, 'project', $2, 'watch' from generate_series(1, $1::integer) g`,
      [PEOPLE, project.id],
    );
    // The first and the last of them participate, too.
    await query(
      `insert into participants (noteable_type, noteable_id, user_id, project_id)
       select 'Issue', $1, 1000000 + g, $2 from unnest(array[1, $3::integer]) g`,
      [issue, project.id, PEOPLE],
    );
  });

  const comments = async (count: number): Promise<number[]> =>
    (
      await query<{ id: number }>(
        `insert into notes (noteable_type, noteable_id, project_id, author_id, body, created_at, updated_at)
         select 'Issue', $1, $2, $3, 'text', now(), now() from generate_series(1, $4::integer) returning id`,
        [issue, project.id, author.id, count],
      )
    ).map((row) => row.id);
  async function queueNotes(noteIds: readonly number[]): Promise<void> {
    const { app } = service;
    const common = {
      template: 'note_created',
      actorId: author.id,
      noteableId: issue,
      isForParticipants: true,
    } as const;
    const notices = noteIds.map((noteId) => ({ ...common, eventId: randomUUID(), noteId, to: [] }));
    const kind = app.get(NoteableKinds).kindOfType('Issue')!;
    await app.get(Work).run((tx) => app.get(NoteableMailEnqueuer).queueMails(tx, kind, notices));
  }
  const mails = async () => {
    const [row] = await query<{ count: number; people: number; own: number }>(
      `select count(*)::int as count, count(distinct recipient_id)::int as people,
         count(*) filter (where not is_watching)::int as own from mails`,
    );
    return row!;
  };
  const fanOuts = () => query<{ id: number; after_user_id: number }>('select id, after_user_id from mail_fan_outs');
  const run = (id: number, signal: AbortSignal) =>
    service.app.get(WatcherMailsJob).run({ params: { fan_out_id: id }, signal });

  test('are notified in batches, each once, also after an interruption', async () => {
    await queueNotes(await comments(2));
    // Participants are notified with the first batch.
    expect(await mails()).toEqual({ count: 2 * (WATCHERS_LIMIT + 1), people: WATCHERS_LIMIT + 1, own: 4 });
    const [row] = await fanOuts();
    expect(row!.after_user_id).toBe(1000000 + WATCHERS_LIMIT);
    await expect(run(row!.id, AbortSignal.abort())).rejects.toThrow();
    expect((await mails()).people).toBe(2 * WATCHERS_LIMIT + 1);
    expect(await fanOuts()).toEqual([{ id: row!.id, after_user_id: 1000000 + 2 * WATCHERS_LIMIT }]);
    for (let count = 0; count < 2; count += 1) await run(row!.id, new AbortController().signal);
    expect(await mails()).toEqual({ count: 2 * PEOPLE, people: PEOPLE, own: 4 });
    expect(await fanOuts()).toEqual([]);
  });

  test('who stopped meanwhile are not notified, and a deleted comment reaches no further user', async () => {
    await queueNotes(await comments(1));
    const [row] = await fanOuts();
    await query(`update notification_settings set level = 'participating' where user_id % 10 = 0`);
    await expect(run(row!.id, AbortSignal.abort())).rejects.toThrow();
    const before = await mails();
    expect(before.people).toBe(2 * WATCHERS_LIMIT + 1);
    const stopped = 'select 1 from mails where is_watching and recipient_id % 10 = 0 and recipient_id > $1';
    expect(await query(stopped, [row!.after_user_id])).toEqual([]);
    await query('delete from notes where noteable_id = $1', [issue]);
    await run(row!.id, new AbortController().signal);
    expect([await mails(), await fanOuts()]).toEqual([before, []]);
  });

  test('are notified by the worker', async () => {
    const nats = await startNats();
    const worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
    try {
      await worker.get(Mailer).stop(0);
      await queueNotes(await comments(1));
      await until(async () => (await fanOuts()).length === 0, 'the end of the job');
      expect(await mails()).toEqual({ count: PEOPLE, people: PEOPLE, own: 2 });
    } finally {
      await worker.stop();
      await nats.drop();
    }
  });
});

describe('plans', () => {
  let drop: () => Promise<void>;
  let pool: Pool;
  const values = { noteables: [1, 2], after: 0, limit: WATCHERS_LIMIT, switches: ['new_note'] };
  const planned = (kind: typeof issueKind) => (db: Database) => db.run(watchers(kind), values);
  const early = new Map<string, PlanNode>();
  beforeAll(async () => {
    const database = await testDatabase('collaboration', migrations);
    ({ drop } = database);
    await runMigrations(database.url, migrations);
    pool = new Pool({ connectionString: database.url, max: 1 });
    for (const kind of [issueKind, epicKind]) early.set(kind.type, await planOf(pool, planned(kind)));
    await pool.query(`
      insert into directory_namespaces (id, kind, owner_id, parent_id, traversal_ids, name, path, full_name, full_path,
          visibility, emails_enabled, plan, created_at)
        select g, 'group', null, null, array[g], 'g' || g, 'g' || g, 'g' || g, 'g' || g, 'private', true, 'ultimate', now()
        from generate_series(1, 400) g;
      insert into directory_projects (id, namespace_id, name, path, visibility, archived, issues_access_level,
          snippets_access_level, merge_requests_access_level, packages_enabled, emails_enabled, created_at)
        select g, 1 + g % 400, 'p' || g, 'p' || g, 'private', false, 'enabled', 'enabled', 'enabled', true, true, now()
        from generate_series(1, 2000) g;
      insert into directory_memberships (id, user_id, source_type, source_id, access_level)
        select g, 1 + g % 10000, 'namespace', 1 + g % 400, 30 from generate_series(1, 20000) g;
      insert into directory_shares (id, source_type, source_id, group_id, access_level)
        select g, 'project', 1 + g % 2000, 1 + g % 400, 30 from generate_series(1, 4000) g;
      insert into notification_settings (user_id, source_type, source_id, level)
        select g, 'global', 0, case when g % 50 = 0 then 'watch' else 'mention' end from generate_series(1, 10000) g
        union all select g % 10000, 'project', 1 + g / 10, case when g % 10 = 0 then 'watch' else 'disabled' end
        from generate_series(1, 19000) g;
      insert into issues (project_id, iid, author_id, title) select 1 + g % 2000, g / 2000 + 1, 1, 'Issue' from generate_series(1, 8000) g;
      insert into epics (group_id, iid, author_id, title, color, text_color)
        select 1 + g % 400, g / 400 + 1, 1, 'Epic', '#fff', '#000' from generate_series(1, 2000) g;
    `);
    await vacuumUntilVisible(pool);
  }, 300_000);
  afterAll(async () => {
    await pool.end();
    await drop();
  });

  test.each([issueKind, epicKind])('users who watch $type are found by place and membership', async (kind) => {
    await expectPlan(pool, join(__dirname, '../golden/notifications', `watchers-of-${kind.noun}s`), planned(kind));
    for (const plan of [early.get(kind.type)!, await planOf(pool, planned(kind))]) {
      const nodes = nodesOf(plan).filter((node) => node['Node Type'] === 'Seq Scan');
      const read = nodes.map((node) => node['Relation Name']).filter((name) => name !== 'directory_shares');
      expect(read).toEqual([]);
    }
  });
});
