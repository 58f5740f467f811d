import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { groupDeleted, projectDeleted, userDeleted } from '@rookery/contracts';
import { JetStreamStrategy } from '@rookery/messaging';
import { startNats, until } from '@rookery/testing';
import { publish } from '../support/publish';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

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

const idsIn = async (table: string, column: string): Promise<number[]> =>
  (await service.database.query<{ id: number }>(`select ${column} as id from ${table} order by 1`)).map(
    (row) => row.id,
  );
const listNotifiedUserIds = async () => ({
  todos: await idsIn('todos', 'user_id'),
  mails: await idsIn('mails', 'recipient_id'),
});

test('effects wait until the copy is as new as their cause', async () => {
  const [owner, removed, stays] = [await service.seed.user(), await service.seed.user(), await service.seed.user()];
  const project = await service.seed.project({ visibility: 'private' });
  for (const one of [owner, removed, stays]) await service.seed.member(one, project, 'developer');
  const by = (user: SeededUser) => service.app.as(service.seed.viewer(user));
  const { iid } = (await by(owner).post(`/api/v4/projects/${project.id}/issues`).send({ title: 'x' }).expect(201))
    .body as { iid: number };
  await by(owner)
    .post(`/api/v4/projects/${project.id}/issues/${iid}/notes`)
    .send({ body: `@${removed.username} @${stays.username}` })
    .expect(201);
  // The worker's copy is one version older than that of the request; the newest version removed a member.
  await service.database.query('update directory_state set version = version - 1');

  worker = await startWorker({
    databaseUrl: service.databaseUrl,
    nats,
    env: { SMTP_URL: smtp.url, MAILER_POLL_MS: '20' },
  });
  const waiting = () =>
    (worker?.logs ?? []).filter((line) => line['msg'] === 'an effect waits').map((line) => line['durable']);
  for (const effect of ['raise-todos', 'queue-mails'])
    await until(() => waiting().includes(`collaboration--${effect}--note-created-v1`), `${effect} to wait`);
  expect(await listNotifiedUserIds()).toEqual({ todos: [], mails: [] });

  await service.database.query('delete from directory_memberships where user_id = $1', [removed.id]);
  await service.database.query('update directory_state set version = version + 1');
  await worker.drained();
  expect(await listNotifiedUserIds()).toEqual({ todos: [stays.id], mails: [stays.id] });
  // Waiting is not counted as a failure.
  expect(await idsIn('dead_letters', 'id')).toEqual([]);
});

test('a false event about a deleted user has no effect and becomes a dead letter', async () => {
  const [person] = await service.database.query<{ id: number }>('select author_id as id from issues limit 1');
  const data = { user_id: person!.id, ghost_user_id: null, hard_delete: true };
  await publish(nats, userDeleted.of({ aggregateId: person!.id, actorId: null, data }));
  const letters = () =>
    service.database.query<{ effect: string; error: string }>(
      `select effect, error from dead_letters where state = 'open'`,
    );
  await until(async () => (await letters()).length > 0, 'a dead letter');
  expect(await letters()).toMatchObject([
    { effect: 'hand-over', error: expect.stringContaining(`refused: user ${person!.id} is not gone`) },
  ]);
  expect(await idsIn('user_departures', 'user_id')).toEqual([]);
  expect(await idsIn('issues', 'author_id')).toEqual([person!.id]);
});

const DELETIONS = {
  project: (id: number) => projectDeleted.of({ aggregateId: id, actorId: null, data: { project_id: id } }),
  group: (id: number) => groupDeleted.of({ aggregateId: id, actorId: null, data: { group_id: id } }),
};
test.each(['project', 'group'] as const)('a false event about a deleted %s has no effect', async (kind) => {
  const { id } = await service.seed[kind]();
  const event = DELETIONS[kind](id);
  await publish(nats, event);
  await worker!.drained();
  const { subject } = event.definition;
  const effects = worker!.get(JetStreamStrategy).handled.filter(({ definition }) => definition.subject === subject);
  const letters = await service.database.query<{ effect: string; error: string }>(
    'select effect, error from dead_letters where subject = $1',
    [subject],
  );
  const refusing = letters.filter(({ error }) => error.includes(`refused: ${kind} ${id} is not gone`));
  expect(effects).not.toEqual([]);
  expect(refusing.map(({ effect }) => effect).sort()).toEqual(effects.map(({ name }) => name).sort());
});
