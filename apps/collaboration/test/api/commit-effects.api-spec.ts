import { projectDeleted } from '@rookery/contracts';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { commitPlace, TIP_MESSAGE } from '../support/commented-commits';
import type { CommitPlace } from '../support/commented-commits';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

/** Feeds, to-dos and e-mails about comments on commits, and their removal. Source: reference repositories 4.6. */
let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let worker: Worker;
let author: SeededUser;
let place: CommitPlace;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  smtp = await startMailServer();
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env: { SMTP_URL: smtp.url } });
});
afterAll(async () => {
  await worker.stop();
  await smtp.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  author = await service.seed.user();
  place = await commitPlace(service, {}, `Author <${author.notification_email!.toUpperCase()}>`);
});

type Body = Record<string, unknown>;
const by = (user: SeededUser | null) => service.app.as(user ? service.seed.viewer(user) : service.seed.anonymous());
const comment = async (who: SeededUser, note: string, more: Body = {}): Promise<number> => {
  await by(who)
    .post(place.at('comments'))
    .send({ note, ...more })
    .expect(201);
  const [row] = await service.database.query<{ id: number }>('select max(id) as id from notes');
  return row!.id;
};
const waitUntilMailsAreSent = async (): Promise<void> => {
  await worker.drained();
  const queued = `select 1 from mails where state = 'queued' limit 1`;
  await until(async () => (await service.database.query(queued)).length === 0, 'an empty queue');
};
const readList = async (who: SeededUser | null, path: string, query: Body = {}): Promise<Body[]> =>
  (await by(who).get(path).query(query).expect(200)).body as Body[];
const feed = (who: SeededUser | null, query: Body = {}): Promise<Body[]> =>
  readList(who, `/api/v4/projects/${place.project.id}/events`, query);
const names = (...people: SeededUser[]) => people.map(({ username }) => username).sort();
const [title] = TIP_MESSAGE.split('\n') as [string];

test('feeds show comments to readers of the code', async () => {
  const note = await comment(place.cast.guest, 'A word');
  await comment(place.cast.guest, 'On a line', { path: 'nest.txt', line: 10 });
  await worker.drained();
  const [later, entry] = await feed(place.cast.stranger);
  expect(later).toMatchObject({
    action_name: 'commented on',
    target_type: 'DiffNote',
    note: {
      ...{ type: 'DiffNote', noteable_type: 'Commit', noteable_id: null },
      position: { head_sha: place.tip, new_path: 'nest.txt', new_line: 10 },
    },
  });
  expect(later!['note']).not.toHaveProperty('suggestions');
  expect(entry).toMatchObject({
    action_name: 'commented on',
    target_type: 'Note',
    target_id: note,
    target_iid: note,
    target_title: title,
    note: {
      id: note,
      body: 'A word',
      noteable_type: 'Commit',
      noteable_id: null,
      noteable_iid: null,
      resolvable: false,
    },
  });
  expect(await readList(place.cast.guest, '/api/v4/events')).toHaveLength(2);
  expect(await readList(place.cast.reporter, '/api/v4/events', { scope: 'all' })).toHaveLength(2);
  await service.seed.put('projects', { ...place.project, repository_access_level: 'private' });
  expect([await feed(place.cast.stranger), await feed(null)]).toEqual([[], []]);
  expect(await feed(place.cast.guest)).toHaveLength(2);
  await service.seed.put('projects', { ...place.project, repository_access_level: 'disabled' });
  expect(await feed(place.cast.owner)).toEqual([]);
});

test('mentioned readers of the code get a to-do that shows the commit', async () => {
  const mention = (...people: SeededUser[]) => people.map(({ username }) => `@${username}`).join(' ');
  const note = await comment(place.cast.guest, `Look, ${mention(place.cast.developer, place.cast.stranger)}`);
  await worker.drained();
  const [todo, ...others] = await readList(place.cast.developer, '/api/v4/todos', { type: 'Commit' });
  expect(others).toEqual([]);
  const [shown] = await readList(null, place.at('').replace(/\/[0-9a-f]{40}\/$/, ''));
  expect(todo).toMatchObject({
    action_name: 'mentioned',
    target_type: 'Commit',
    target: shown,
    body: expect.stringContaining('Look, '),
    project: { id: place.project.id },
    author: { id: place.cast.guest.id },
    state: 'pending',
  });
  expect(Object.keys(todo!['target'] as Body)).toEqual(Object.keys(shown!));
  expect(todo!['target_url']).toBe(`${shown!['web_url'] as string}#note_${note}`);
  expect((await by(place.cast.developer).get('/api/v4/user_counts').expect(200)).body).toMatchObject({ todos: 1 });
  expect(await readList(place.cast.stranger, '/api/v4/todos')).toHaveLength(1);
  await service.seed.put('projects', { ...place.project, repository_access_level: 'private' });
  expect(await readList(place.cast.stranger, '/api/v4/todos')).toEqual([]);
  await service.seed.put('projects', place.project);
  await comment(place.cast.developer, 'Seen.');
  await worker.drained();
  expect(await readList(place.cast.developer, '/api/v4/todos')).toEqual([]);
});

test('users who do not read the code get neither to-dos nor e-mails', async () => {
  place = await commitPlace(service, { visibility: 'private' });
  await waitUntilMailsAreSent();
  smtp.mails.length = 0;
  const { guest, stranger, developer, reporter } = place.cast;
  await comment(reporter, `@${guest.username} @${stranger.username} @${developer.username}`);
  await waitUntilMailsAreSent();
  expect(smtp.recipients()).toEqual(names(developer));
  for (const who of [guest, stranger]) expect(await readList(who, '/api/v4/todos')).toEqual([]);
});

test('the author of the commit and participants get e-mails', async () => {
  await waitUntilMailsAreSent();
  smtp.mails.length = 0;
  const note = await comment(place.cast.guest, `Look, @${place.cast.developer.username}`);
  await waitUntilMailsAreSent();
  expect(smtp.recipients()).toEqual(names(author, place.cast.developer));
  const mail = smtp.mails.find(({ to }) => to === author.notification_email)!;
  const short = place.tip.slice(0, 8);
  expect(mail.parsed.subject).toMatch(new RegExp(`^Re: .* \\| ${title} \\(${short}\\)$`));
  expect(mail.parsed.text).toContain(`commented on commit ${short}: ${title}`);
  expect(mail.parsed.text).toContain(`/-/commit/${place.tip}#note_${note}`);
  expect(mail.parsed.inReplyTo).toMatch(new RegExp(`^<commit_${place.tip}@`));
  expect(mail.parsed.headers.get('x-platform-commit-id')).toBe(place.tip);
  smtp.mails.length = 0;
  await comment(author, 'So it is.');
  await waitUntilMailsAreSent();
  expect(smtp.recipients()).toEqual(names(place.cast.guest, place.cast.developer));
});

test('the author is also found by the address without mail', async () => {
  const email = `${author.id}-${author.username}@users.noreply.localhost`;
  place = await commitPlace(service, {}, `Author <${email}>`);
  await comment(place.cast.guest, 'x');
  await by(place.cast.guest).post(place.at('comments', place.root)).send({ note: 'x' }).expect(201);
  const rows = await service.database.query(
    'select sha, author_id from discussed_commits where project_id = $1 order by id',
    [place.project.id],
  );
  expect(rows).toEqual([
    { sha: place.tip, author_id: author.id },
    { sha: place.root, author_id: null },
  ]);
});

test('a deleted project takes its comments along', async () => {
  await comment(place.cast.guest, `@${place.cast.developer.username}`, { path: 'nest.txt', line: 10 });
  await waitUntilMailsAreSent();
  const counts = async (): Promise<unknown> => {
    const of = (table: string, where: string): string => `(select count(*)::int from ${table} where ${where})`;
    const [row] = await service.database.query<{ counts: number[] }>(
      `select array[${[
        of('discussed_commits', 'project_id = $1'),
        of('notes', 'project_id = $1'),
        of(
          'note_positions',
          `noteable_type = 'Commit' and not exists (select 1 from notes n where n.thread_id = note_positions.thread_id)`,
        ),
        of('todos', 'project_id = $1'),
        of('activity_events', `project_id = $1 and noteable_type = 'Commit'`),
        of('participants', 'project_id = $1'),
      ].join(', ')}] as counts`,
      [place.project.id],
    );
    return row!.counts;
  };
  expect(await counts()).toEqual([1, 1, 0, 1, 1, expect.any(Number)]);
  await service.database.query('delete from directory_projects where id = $1', [place.project.id]);
  const data = { project_id: place.project.id };
  await publish(nats, projectDeleted.of({ aggregateId: place.project.id, actorId: 1, data }));
  await worker.drained();
  await until(async () => JSON.stringify(await counts()) === '[0,0,0,0,0,0]', 'the removal');
});
