import { randomUUID } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { startNats, until } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { UserRemovals } from '../../src/removal/user-removals';
import { UserRemovalsConsumer } from '../../src/removal/user-removals.consumer';
import { eventsOf, startCollaboration } from '../support/app';
import { startWorker } from '../support/worker';

let service: SeededService;
let ghost: SeededUser;
let owner: SeededUser;
let project: DirectoryProject;
beforeAll(async () => {
  service = await startCollaboration();
  ghost = await service.seed.user({ username: 'ghost', kind: 'ghost' });
  owner = await service.seed.user();
  project = await service.seed.project({ visibility: 'public' });
  await service.seed.member(owner, project, 'owner');
});
afterAll(() => service.close());

interface ShownResource {
  readonly id: number;
  readonly iid: number;
  readonly author: { readonly id: number } | null;
}
const as = (who: SeededUser) => service.app.as(service.seed.viewer(who));
const createIssue = async (who: SeededUser, over: Record<string, unknown> = {}): Promise<ShownResource> =>
  (
    await as(who)
      .post(`/api/v4/projects/${project.id}/issues`)
      .set({ 'user-agent': 'Nest/1', 'x-forwarded-for': '192.0.2.7' })
      .send({ title: 'A title', ...over })
      .expect(201)
  ).body as ShownResource;
const createNote = async (who: SeededUser, issue: ShownResource): Promise<ShownResource> =>
  (await as(who).post(`/api/v4/projects/${project.id}/issues/${issue.iid}/notes`).send({ body: 'A word' }).expect(201))
    .body as ShownResource;
const getIssue = (issue: ShownResource, what = '') =>
  as(owner).get(`/api/v4/projects/${project.id}/issues/${issue.iid}${what}`);
const count = async (table: string, where: string, ...values: unknown[]): Promise<number> =>
  (await service.database.query<{ n: number }>(`select count(*)::int as n from ${table} where ${where}`, values))[0]!.n;

/** Removes a user from the copy and delivers the event, as identity does. */
async function remove(person: SeededUser, hard: boolean): Promise<void> {
  await service.database.query('delete from directory_users where id = $1', [person.id]);
  await deliver(person, hard);
}
async function deliver(person: SeededUser, hard: boolean, ghostId = ghost.id): Promise<void> {
  const data = { user_id: person.id, ghost_user_id: hard ? null : ghostId, hard_delete: hard };
  const event = {
    id: randomUUID(),
    time: new Date().toISOString(),
    aggregateType: 'user',
    aggregateId: person.id,
    actorId: 1,
    data,
  };
  const consumer = service.app.get(UserRemovalsConsumer);
  await service.app.get(Work).run((tx) => consumer.userDeleted({ tx, events: [event] }));
}
const runRemovalsOnce = (): Promise<number> => service.app.get(UserRemovals).runOnce();

/** Creates a user with rows in every table that references users. */
async function createBusyPerson(): Promise<{
  person: SeededUser;
  own: ShownResource;
  note: ShownResource;
  elsewhere: ShownResource;
  word: ShownResource;
}> {
  const person = await service.seed.user();
  await service.seed.member(person, project, 'developer');
  const own = await createIssue(person, { assignee_ids: [owner.id] });
  const note = await createNote(owner, own);
  const elsewhere = await createIssue(owner, { assignee_ids: [person.id] });
  const word = await createNote(person, elsewhere);
  const { body: milestone } = await as(owner)
    .post(`/api/v4/projects/${project.id}/milestones`)
    .send({ title: `known to ${person.id}` })
    .expect(201);
  await as(person)
    .put(`/api/v4/projects/${project.id}/issues/${elsewhere.iid}`)
    .send({ state_event: 'close', add_labels: 'named', milestone_id: milestone.id, weight: 3 })
    .expect(200);
  await as(person).post(`/api/v4/projects/${project.id}/labels/named/subscribe`).expect(201);
  const { database } = service;
  await database.query(
    `insert into todos (user_id, author_id, action, project_id, target_type, target_id, note_id, source_event_id, state, created_at, updated_at)
     select x.u, x.a, 'marked', $3, 'Issue', x.issue, x.note, gen_random_uuid(), x.state, now(), now()
     from (values ($1::bigint, $2::bigint, $5::bigint, null::bigint, 'pending'), ($1, $2, $5, null, 'done'), ($2, $1, $5, $6::bigint, 'pending'))
       as x (u, a, issue, note, state) where $4::bigint is not null`,
    [person.id, owner.id, project.id, own.id, elsewhere.id, word.id],
  );
  await database.query(
    `insert into activity_events (project_id, author_id, action, target_type, target_id, noteable_type, noteable_id, source_event_id, created_at)
     values ($1, $2, 'created', 'Issue', $3, 'Issue', $3, gen_random_uuid(), now()),
       ($1, $4, 'commented', 'Note', $5, 'Issue', $3, gen_random_uuid(), now())`,
    [project.id, person.id, own.id, owner.id, note.id],
  );
  await database.query(
    `insert into participants (noteable_type, noteable_id, user_id, project_id) values ('Issue', $1, $2, $3)`,
    [elsewhere.id, person.id, project.id],
  );
  await database.query(
    `insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id)
     values (gen_random_uuid(), $1, 'issue_created', $2, $3, 'Issue', $4),
       (gen_random_uuid(), $2, 'note_created', $1, $3, 'Issue', $4)`,
    [person.id, owner.id, project.id, elsewhere.id],
  );
  await database.query(
    `insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, state, gathered_into)
     select gen_random_uuid(), x.recipient, 'issue_closed', x.actor, $3, 'Issue', $4, 'gathered', 1
     from (values ($1::bigint, $2::bigint), ($2, $1)) as x (recipient, actor)`,
    [person.id, owner.id, project.id, elsewhere.id],
  );
  await database.query(
    `insert into account_mails (source_event_id, recipient_id, template, subject_id) values (gen_random_uuid(), $1, 'x', 1)`,
    [person.id],
  );
  await database.query(`insert into mail_allowances (recipient_id, tokens, refilled_at) values ($1, 1, now())`, [
    person.id,
  ]);
  await database.query(
    `insert into notification_settings (user_id, source_type, level) values ($1, 'global', 'watch')`,
    [person.id],
  );
  return { person, own, note, elsewhere, word };
}

/** Returns all user columns of the service that contain this id. */
async function personReferences(id: number): Promise<string[]> {
  const columns = await service.database.query<{ table_name: string; column_name: string }>(
    `select table_name, column_name from information_schema.columns where table_schema = current_schema()
       and table_name not like 'directory%' and table_name <> 'user_departures'
       and column_name in ('user_id', 'author_id', 'closed_by_id', 'recipient_id', 'created_by_id', 'updated_by_id',
         'resolved_by_id', 'assignee_id') order by 1, 2`,
  );
  const found: string[] = [];
  for (const { table_name, column_name } of columns)
    if ((await count(table_name, `${column_name} = $1`, id)) > 0) found.push(`${table_name}.${column_name}`);
  return found;
}

describe('removing a user', () => {
  it('transfers authored content to the ghost, and deletes everything else', async () => {
    const { person, own, elsewhere, word } = await createBusyPerson();
    expect(await personReferences(person.id)).toEqual([
      'account_mails.recipient_id',
      'activity_events.author_id',
      'issue_assignees.user_id',
      'issues.author_id',
      'issues.closed_by_id',
      'label_subscriptions.user_id',
      'mail_allowances.recipient_id',
      'mails.recipient_id',
      'note_creations.user_id',
      'notes.author_id',
      'notification_settings.user_id',
      'participants.user_id',
      'resource_label_events.user_id',
      'resource_milestone_events.user_id',
      'resource_state_events.user_id',
      'resource_weight_events.user_id',
      'todos.author_id',
      'todos.user_id',
    ]);
    const hasOrigin = 'id = $1 and (user_agent is not null or ip_address is not null)';
    expect(await count('issues', hasOrigin, own.id)).toBe(1);
    await remove(person, false);

    // Before the transfer, nothing is hidden and no request fails.
    expect((await getIssue(own)).body).toMatchObject({ id: own.id, author: null });
    expect((await getIssue(elsewhere, '/notes?activity_filter=only_comments')).body).toMatchObject([
      { id: word.id, author: null },
    ]);
    await as(owner).get('/api/v4/todos').expect(200);
    await as(owner).get(`/api/v4/projects/${project.id}/events`).expect(200);
    expect(
      (await as(owner).get(`/api/v4/projects/${project.id}/issues`)).body.map((one: ShownResource) => one.id),
    ).toContain(own.id);

    await runRemovalsOnce();
    expect(await personReferences(person.id)).toEqual([]);
    expect((await getIssue(own)).body.author).toMatchObject({ id: ghost.id, username: 'ghost' });
    expect(await count('issues', hasOrigin, own.id)).toBe(0);
    expect((await getIssue(elsewhere)).body).toMatchObject({
      closed_by: { id: ghost.id },
      assignees: [],
      user_notes_count: 1,
    });
    expect((await getIssue(elsewhere, '/notes?activity_filter=only_comments')).body).toMatchObject([
      { id: word.id, author: { id: ghost.id } },
    ]);
    for (const path of ['/resource_label_events', '/resource_milestone_events']) {
      expect((await getIssue(elsewhere, path)).body).toMatchObject([{ user: { id: ghost.id } }]);
    }
    expect(await count('todos', `user_id = $1 and author_id = $2`, owner.id, ghost.id)).toBe(1);
    // One queued e-mail, and one of several gathered ones.
    expect(await count('mails', `recipient_id = $1 and actor_id = $2`, owner.id, ghost.id)).toBe(2);
  });

  it('deletes issues and notes with hard_delete', async () => {
    const { person, own, elsewhere, word } = await createBusyPerson();
    await remove(person, true);
    await runRemovalsOnce();
    expect(await personReferences(person.id)).toEqual([]);
    await getIssue(own).expect(404);
    expect((await getIssue(elsewhere)).body).toMatchObject({ closed_by: null, state: 'closed', user_notes_count: 0 });
    expect((await getIssue(elsewhere, '/resource_label_events')).body).toEqual([]);
    expect((await getIssue(elsewhere, '/resource_milestone_events')).body).toEqual([]);
    expect((await getIssue(elsewhere, '/notes')).body.filter((one: ShownResource) => one.author === null)).toEqual([]);
    expect(await count('notes', `noteable_id = $1`, own.id)).toBe(0);
    expect(
      (await eventsOf(service.database, 'collaboration.issue.deleted.v1')).map((one) => one['issue_id']),
    ).toContain(own.id);
    expect(
      (await eventsOf(service.database, 'collaboration.note.deleted.v1')).find((one) => one['note_id'] === word.id),
    ).toMatchObject({
      noteable_type: 'Issue',
      noteable_id: elsewhere.id,
      noteable_iid: elsewhere.iid,
      project_id: project.id,
      internal: false,
    });
    const [counters] = await service.database.query<{ kept: number; real: number }>(
      `select i.system_notes_count as kept, (select count(*)::int from notes n where n.noteable_id = i.id and n.system) as real
       from issues i where i.id = $1`,
      [elsewhere.id],
    );
    expect(counters!.kept).toBe(counters!.real);
  });

  it('runs in transactions of bounded size, and again for late rows', async () => {
    const person = await service.seed.user();
    await service.seed.member(person, project, 'developer');
    const issue = await createIssue(owner);
    await service.database.query(
      `insert into notes (noteable_type, noteable_id, project_id, author_id, body)
       select 'Issue', $1, $2, $3, 'n' from generate_series(1, 2500)`,
      [issue.id, project.id, person.id],
    );
    await remove(person, false);
    await deliver(person, false);
    expect(await runRemovalsOnce()).toBe(3);
    expect(await count('notes', 'author_id = $1', person.id)).toBe(0);
    expect(await runRemovalsOnce()).toBe(0);

    await service.database.query(`update notes set author_id = $2 where noteable_id = $1`, [issue.id, person.id]);
    await service.database.query(`update user_departures set next_at = now() where user_id = $1`, [person.id]);
    await runRemovalsOnce();
    expect(await count('notes', 'author_id = $1', person.id)).toBe(0);
    await service.database.query(`update user_departures set next_at = now() where user_id = $1`, [person.id]);
    await runRemovalsOnce();
    expect(await count('user_departures', 'user_id = $1', person.id)).toBe(0);
  });

  it('waits until the copy contains the ghost', async () => {
    const person = await service.seed.user();
    await service.seed.member(person, project, 'developer');
    const issue = await createIssue(person);
    await service.database.query('delete from directory_users where id = $1', [person.id]);
    const unknown = 7_000_000;
    await deliver(person, false, unknown);
    expect(await runRemovalsOnce()).toBe(1);
    expect(await count('issues', 'id = $1 and author_id = $2', issue.id, person.id)).toBe(1);

    await service.database.query(`update directory_users set id = $2 where id = $1`, [ghost.id, unknown]);
    await service.database.query(`update user_departures set next_at = now()`);
    await runRemovalsOnce();
    await service.database.query(`update directory_users set id = $2 where id = $1`, [unknown, ghost.id]);
    expect(await count('issues', 'id = $1 and author_id = $2', issue.id, unknown)).toBe(1);
  });

  it('is done by a worker at once, and again a minute later', async () => {
    const person = await service.seed.user();
    await service.seed.member(person, project, 'developer');
    const issue = await createIssue(person);
    const nats = await startNats();
    const worker = await startWorker({ databaseUrl: service.databaseUrl, nats });
    await remove(person, false);
    await until(
      async () => (await count('issues', 'id = $1 and author_id = $2', issue.id, ghost.id)) === 1,
      'the heir',
    );
    // Remaining rows are transferred in further transactions; the last one schedules the next round.
    let next: { in_s: number } | undefined;
    await until(async () => {
      [next] = await service.database.query<{ in_s: number }>(
        `select extract(epoch from j.run_at - now())::float as in_s from user_departures d, graphile_worker.jobs j
         where d.user_id = $1 and d.round = 2 and j.key = 'hand-over-traces:' || d.user_id`,
        [person.id],
      );
      return next !== undefined;
    }, 'the second round');
    expect(next!.in_s).toBeGreaterThan(30);
    await worker.stop();
    await nats.drop();
  });
});

test('a user who is still in the directory loses nothing by a false event', async () => {
  const person = await service.seed.user();
  const issue = await createIssue(person);
  await deliver(person, true);
  expect(await count('user_departures', 'user_id = $1', person.id)).toBe(0);
  expect(await count('issues', 'id = $1', issue.id)).toBe(1);

  await remove(person, true);
  expect(await count('user_departures', 'user_id = $1', person.id)).toBe(1);
});

test('a thread continues without its author, and threads resolved by the user stay resolved', async () => {
  const person = await service.seed.user();
  await service.seed.member(person, project, 'developer');
  const issue = await createIssue(owner);
  const threads = `/api/v4/projects/${project.id}/issues/${issue.iid}/discussions`;
  const { body: thread } = await as(person).post(threads).send({ body: 'one' }).expect(201);
  await as(owner).post(`${threads}/${thread.id}/notes`).send({ body: 'two' }).expect(201);
  await as(person).post(`${threads}/${thread.id}/notes`).send({ body: 'three' }).expect(201);
  await as(person).put(`${threads}/${thread.id}`).send({ resolved: true }).expect(200);
  await remove(person, true);
  await runRemovalsOnce();
  const { body: left } = await as(owner).get(threads).expect(200);
  expect(left).toMatchObject([{ id: thread.id, notes: [{ body: 'two', resolved: true, resolved_by: null }] }]);
  expect(left[0].notes).toHaveLength(1);
});
