import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { FaultProxy, startNats, until } from '@rookery/testing';
import type { DirectoryProject } from '@rookery/contracts';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { CHECK_VALID_MS } from '../../src/following/notifications/mailer/due-mail-checker';
import { deleteOldRows } from '../support/old-rows';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let project: DirectoryProject;
let actor: SeededUser;
let issueId: number;
let epicId: number;
const workers: Worker[] = [];

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
  project = await service.seed.project();
  actor = await service.seed.user();
  const [row] = await service.database.query<{ id: number }>(
    `insert into issues (project_id, iid, author_id, title) values ($1, 1, $2, 'Title') returning id`,
    [project.id, actor.id],
  );
  issueId = row!.id;
  const { id: groupId } = await service.seed.group({ plan: 'premium' });
  const [epic] = await service.database.query<{ id: number }>(
    `insert into epics (group_id, iid, author_id, title, color, text_color) values ($1, 1, $2, 'Goal', '#fff', '#000')
     returning id`,
    [groupId, actor.id],
  );
  epicId = epic!.id;
});
afterAll(async () => {
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  await service.database.query('delete from mails');
  await service.database.query('delete from mail_allowances');
  smtp = await startMailServer();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await smtp.stop();
});

const start = async (env: Record<string, string> = {}, databaseUrl = service.databaseUrl): Promise<Worker> => {
  const worker = await startWorker({
    databaseUrl,
    nats,
    env: { SMTP_URL: smtp.url, MAILER_POLL_MS: '20', MAILER_RETRY_FIRST_MS: '20', MAILER_RETRY_MOST_MS: '100', ...env },
  });
  workers.push(worker);
  return worker;
};
/** Queues one e-mail for each recipient. */
const queue = async (people: readonly SeededUser[], count = 1): Promise<void> => {
  for (const person of people) {
    await service.database.query(
      `insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id)
       select gen_random_uuid(), $1, 'issue_closed', $2, $3, 'Issue', $4 from generate_series(1, $5)`,
      [person.id, actor.id, project.id, issueId, count],
    );
  }
};
const people = (count: number) => Promise.all(Array.from({ length: count }, () => service.seed.user()));
interface MailRow {
  state: string;
  attempts: number;
  smtp_reply: string;
}
const rows = () => service.database.query<MailRow>('select state, attempts, smtp_reply from mails order by id');
const waitForStates = (...states: string[]) =>
  until(async () => (await rows()).every((row) => states.includes(row.state)), `all ${states.join(' or ')}`);

test('two processes send each e-mail once, over few connections', async () => {
  await queue(await people(30), 4);
  await Promise.all([1, 2].map(() => start({ MAILER_CONNECTIONS_COUNT: '5' })));
  await waitForStates('sent');
  expect(smtp.mails).toHaveLength(120);
  expect(new Set(smtp.mails.map((mail) => mail.parsed.messageId)).size).toBe(120);
  expect(smtp.mostConnections).toBeLessThanOrEqual(10);
  expect(smtp.mostConnections).toBeGreaterThan(1);
});

test('a server that accepts few connections gets all e-mails over these, and each counts one attempt', async () => {
  smtp.connectionLimit = 2;
  await queue(await people(30), 4);
  const { logs } = await start();
  await waitForStates('sent');
  expect((await rows()).every(({ attempts }) => attempts === 1)).toBe(true);
  expect(smtp.mails).toHaveLength(120);
  expect(smtp.mostConnections).toBe(2);
  expect(logs.map(({ msg }) => msg)).not.toContain('the mail server is away');
});

test('a server that accepts no connection for now is tried again, and no e-mail loses an attempt', async () => {
  smtp.connectionLimit = 0;
  await queue(await people(5));
  const { logs } = await start();
  const isAway = () => Promise.resolve(logs.some(({ msg }) => msg === 'the mail server is away'));
  await until(isAway, 'a line in the log about the server');
  smtp.connectionLimit = Infinity;
  await waitForStates('sent');
  expect((await rows()).every(({ attempts }) => attempts === 1)).toBe(true);
});

test('temporary refusals are retried, final ones are not, and others do not wait', async () => {
  const [busy, unknown, fine] = await people(3);
  let tries = 0;
  smtp.answer = (stage, to) => {
    if (stage === 'rcpt' && to === busy!.notification_email && ++tries < 4) return { code: 451, text: 'try later' };
    return to === unknown!.notification_email && stage === 'rcpt' ? { code: 550, text: 'no such user' } : null;
  };
  await queue([busy!, unknown!, fine!]);
  await start();
  await waitForStates('sent', 'failed');
  expect(await rows()).toMatchObject([
    { state: 'sent', attempts: 4 },
    { state: 'failed', attempts: 1, smtp_reply: expect.stringContaining('550 no such user') },
    { state: 'sent', attempts: 1 },
  ]);
  expect(smtp.mails).toHaveLength(2);
});

test('a refusal of the message text is final, too', async () => {
  smtp.answer = (stage) => (stage === 'data' ? { code: 554, text: 'not wanted' } : null);
  await queue(await people(1));
  await start();
  await waitForStates('failed');
  expect(await rows()).toMatchObject([{ attempts: 1, smtp_reply: expect.stringContaining('554 not wanted') }]);
});

test('an e-mail that is refused for too long fails', async () => {
  smtp.answer = () => ({ code: 450, text: 'full' });
  await queue(await people(1));
  await start({ MAILER_GIVE_UP_MS: '3600000' });
  await until(async () => (await rows())[0]!.attempts > 2, 'tries');
  expect((await rows())[0]!.state).toBe('queued');
  await service.database.query(`update mails set created_at = now() - interval '1 hour'`);
  await waitForStates('failed');
  expect(smtp.mails).toEqual([]);
});

test('while the server is down e-mails wait, and are sent when it is back', async () => {
  const port = Number(new URL(smtp.url).port);
  await smtp.stop();
  await queue(await people(8));
  const worker = await start();
  await until(() => worker.logs.filter((line) => line['msg'] === 'the mail server is away').length >= 2, 'tries');
  expect((await rows()).map((row) => row.state)).toEqual(Array(8).fill('queued'));
  smtp = await startMailServer(port);
  await waitForStates('sent');
  expect(smtp.mails).toHaveLength(8);
  // None of them counts as tried while no server answered.
  expect(await rows()).toMatchObject(Array(8).fill({ attempts: 1 }));
  expect(worker.logs.filter((line) => line['level'] === 'error')).toEqual([]);
});

test('a session dropped by the server delays only its own e-mail', async () => {
  const all = await people(20);
  const droppedAddress = all[3]!.notification_email;
  let drops = 0;
  smtp.answer = (stage, to) => (stage === 'data' && to === droppedAddress && ++drops <= 2 ? 'drop' : null);
  await queue(all);
  // The default delay: an e-mail postponed because of another one would not arrive within the test.
  await start({ MAILER_RETRY_FIRST_MS: '3600000', MAILER_RETRY_MOST_MS: '3600000' });
  await until(async () => (await rows()).filter((row) => row.state === 'sent').length === 19, '19 sent');
  await until(async () => (await rows()).every((row) => row.attempts === 1), 'one try each');
  expect((await rows()).filter((row) => row.state === 'queued')).toHaveLength(1);
  expect(drops).toBe(1);
});

test('e-mails whose claim has an unknown result are released at once, each individually', async () => {
  const proxy = await FaultProxy.before(service.databaseUrl);
  try {
    // Two e-mails of one thread are within the allowance, so none is gathered.
    await queue(await people(15), 2);
    proxy.loseAnswersTo('COMMIT', { after: '\0mails_claim\0' });
    const worker = await start({}, proxy.url);
    await waitForStates('sent');
    expect(worker.logs.filter((line) => line['msg'] === 'e-mails wait')).toHaveLength(1);
    expect(await rows()).toMatchObject(Array(30).fill({ attempts: 1 }));
    await Promise.all(workers.splice(0).map((one) => one.stop()));
  } finally {
    await proxy.close();
  }
});

test('a stalled server does not block e-mails for ever', async () => {
  let stalled = 0;
  smtp.answer = (stage) => (stage === 'data' && stalled++ < 1 ? new Promise<null>(() => undefined) : null);
  await queue(await people(4));
  await start({ MAILER_TIMEOUT_MS: '1000' });
  await waitForStates('sent');
  // On a busy machine the server may be slow for others, too: an accepted e-mail without a received answer is sent again.
  expect(new Set(smtp.recipients()).size).toBe(4);
});

test.each(['issues', 'epics'] as const)(
  'an e-mail that its recipient can no longer read is not sent after it was claimed: %s',
  async (kind) => {
    let answer: (value: null) => void = () => undefined;
    let stalled = 0;
    smtp.answer = (stage) =>
      stage === 'data' && stalled++ === 0 ? new Promise<null>((resolve) => (answer = resolve)) : null;
    await queue(await people(4));
    if (kind === 'epics')
      await service.database.query(
        `update mails set project_id = null, noteable_type = 'Epic', template = 'epic_closed', noteable_id = $1`,
        [epicId],
      );
    await start({ MAILER_CONNECTIONS_COUNT: '1' });
    await until(() => stalled === 1, 'the first message');
    await service.database.query(`update ${kind} set confidential = true`);
    // The SMTP dialogue lasts longer than the check at the claim is valid.
    setTimeout(() => answer(null), 2 * CHECK_VALID_MS);
    await waitForStates('sent', 'dropped');
    await service.database.query(`update ${kind} set confidential = false`);
    expect(smtp.mails).toHaveLength(1);
    expect((await rows()).map((row) => row.state).sort()).toEqual(['dropped', 'dropped', 'dropped', 'sent']);
  },
);

test('no claimed e-mail is sent while the copy of the directory is stale', async () => {
  let answer: (value: null) => void = () => undefined;
  let stalled = 0;
  smtp.answer = (stage) =>
    stage === 'data' && stalled++ === 0 ? new Promise<null>((resolve) => (answer = resolve)) : null;
  const refreshed = (at: string) => service.database.query(`update directory_state set refreshed_at = ${at}`);
  await queue(await people(3));
  const { logs } = await start({ MAILER_CONNECTIONS_COUNT: '1' });
  await until(() => stalled === 1, 'the first message');
  try {
    await refreshed(`now() - interval '1 hour'`);
    setTimeout(() => answer(null), 2 * CHECK_VALID_MS);
    const waitingLogs = () => logs.filter((line) => `${line['msg'] as string}`.startsWith('an e-mail waits'));
    await until(() => waitingLogs().length + smtp.mails.length === 3, 'a decision on each');
    expect(smtp.mails).toHaveLength(1);
  } finally {
    await refreshed(`'infinity'`);
  }
  await waitForStates('sent');
  expect(smtp.mails).toHaveLength(3);
  expect(await rows()).toMatchObject(Array(3).fill({ attempts: 1 }));
});

test('a claimed e-mail is sent to the current address of its recipient', async () => {
  let answer: (value: null) => void = () => undefined;
  let stalled = 0;
  smtp.answer = (stage) =>
    stage === 'data' && stalled++ === 0 ? new Promise<null>((resolve) => (answer = resolve)) : null;
  const recipients = await people(3);
  await queue(recipients);
  await start({ MAILER_CONNECTIONS_COUNT: '1' });
  await until(() => stalled === 1, 'the first message');
  for (const person of recipients)
    await service.seed.put('users', { ...person, notification_email: `new-${person.notification_email}` });
  setTimeout(() => answer(null), 2 * CHECK_VALID_MS);
  await waitForStates('sent');
  const sentTo = smtp.mails.map((mail) => mail.to).sort();
  const first = recipients.find((one) => sentTo.includes(one.notification_email!))!;
  const others = recipients.filter((one) => one !== first).map((one) => `new-${one.notification_email}`);
  expect(sentTo).toEqual([first.notification_email, ...others].sort());
});

test('a user gets no more e-mails at once than their allowance', async () => {
  const [flooded, other] = await people(2);
  await queue([flooded!], 30);
  await queue([other!]);
  await start({ MAILER_PER_RECIPIENT_BURST_COUNT: '10', MAILER_PER_RECIPIENT_PER_MINUTE_COUNT: '1' });
  await until(() => smtp.mails.some((mail) => mail.to === other!.notification_email), 'the mail of the other');
  await until(() => smtp.mails.length >= 11, 'the allowance');
  const late = () =>
    service.database.query<{ attempts: number }>(
      `select attempts from mails where state = 'queued' and next_attempt_at > now() + interval '30 seconds'`,
    );
  await until(async () => (await late()).length === 20, 'the rest waiting');
  expect((await late()).every((row) => row.attempts === 0)).toBe(true);
  expect(smtp.mails).toHaveLength(11);
});

test('e-mails claimed by a killed process are claimed by another after the lease', async () => {
  await queue(await people(2));
  // The state left by a process that claimed them and was killed.
  await service.database.query(`update mails set attempts = 1, next_attempt_at = now() + interval '300 milliseconds'`);
  await start();
  await waitForStates('sent');
  expect((await rows()).map((row) => row.attempts)).toEqual([2, 2]);
});

test('while e-mails are disabled, none is sent', async () => {
  await queue(await people(1));
  await start({ MAILER_ENABLED: 'off' });
  const other = await start();
  await waitForStates('sent');
  expect(other.logs.length).toBeGreaterThan(0);
});

test('old e-mails are deleted, queued ones are not', async () => {
  await queue(await people(1), 3);
  await service.database.query(
    `update mails set created_at = now() - interval '31 days', next_attempt_at = 'infinity'`,
  );
  await service.database.query(`update mails set state = 'sent' where id > (select min(id) from mails)`);
  const entry = (age: string) =>
    service.database.query(
      `insert into activity_events (project_id, author_id, action, target_type, target_id, source_event_id, created_at)
       select $1, $2, 'joined', 'Project', $1, gen_random_uuid(), now() - $3::interval from generate_series(1, 2500)`,
      [project.id, actor.id, age],
    );
  await entry('1097 days');
  await entry('1095 days');
  expect(await deleteOldRows(service)).toBe(2502);
  expect(await rows()).toMatchObject([{ state: 'queued' }]);
  const [left] = await service.database.query<{ count: number }>('select count(*)::integer from activity_events');
  expect(left!.count).toBe(2500);
  expect(await deleteOldRows(service)).toBe(0);
});
