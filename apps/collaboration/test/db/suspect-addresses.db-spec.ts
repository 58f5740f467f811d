import { accessTokenRotated, emailConfirmationRequested } from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { CHECK_VALID_MS } from '../../src/following/notifications/mailer/due-mail-checker';
import { OldMailRefusalsJob } from '../../src/following/notification-settings/suspect-addresses.job';
import { AccountFacts } from '../support/account-facts';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { publish } from '../support/publish';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

/** Addresses that mail servers refuse. Source: reference reliability 2.7. */
let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let worker: Worker;
let identity: AccountFacts;
let project: DirectoryProject;
let actor: SeededUser;
let user: SeededUser;
let issueId: number;

beforeAll(async () => {
  nats = await startNats();
  smtp = await startMailServer();
  identity = new AccountFacts();
  await identity.listen();
  service = await startCollaboration({ IDENTITY_URL: identity.url });
  const pace = { MAILER_POLL_MS: '20', MAILER_RETRY_FIRST_MS: '20', MAILER_CONNECTIONS_COUNT: '1' };
  const env = { SMTP_URL: smtp.url, IDENTITY_URL: identity.url, ...pace };
  worker = await startWorker({ databaseUrl: service.databaseUrl, nats, env });
  project = await service.seed.project();
  actor = await service.seed.user();
  const [row] = await service.database.query<{ id: number }>(
    `insert into issues (project_id, iid, author_id, title) values ($1, 1, $2, 'Title') returning id`,
    [project.id, actor.id],
  );
  issueId = row!.id;
});
afterAll(async () => {
  await worker.stop();
  await identity.close();
  await smtp.stop();
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  user = await service.seed.user();
  smtp.mails.length = 0;
  smtp.answer = () => null;
  identity.answer = () => ({ address: user.notification_email!, name: 'Ann', link: 'http://x.example', token: null });
  identity.choose = ({ email }) => ({ outcome: 'chosen', email: email ?? user.notification_email! });
});

/** Queues e-mails together and returns their ends: state and reply. */
async function sendMailsTo(...to: readonly SeededUser[]): Promise<string[]> {
  const rows = await service.database.query<{ id: number }>(
    `insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id)
     select gen_random_uuid(), person, 'issue_closed', $2, $3, 'Issue', $4
     from unnest($1::bigint[]) with ordinality as t (person, place) order by place returning id`,
    [to.map(({ id }) => id), actor.id, project.id, issueId],
  );
  return Promise.all(rows.map(({ id }) => waitForFinalState('mails', id)));
}
/** Queues an e-mail and returns its end: state and reply. */
const send = async (to = user): Promise<string> => (await sendMailsTo(to))[0]!;
async function waitForFinalState(table: 'mails' | 'account_mails', id: number): Promise<string> {
  let end = '';
  await until(async () => {
    const [row] = await service.database.query<{ state: string; smtp_reply: string | null }>(
      `select state, smtp_reply from ${table} where id = $1`,
      [id],
    );
    end = `${row!.state} ${row!.smtp_reply ?? ''}`;
    return row!.state !== 'queued';
  }, 'the end of an e-mail');
  return end;
}
const refuseAddress = (code: number, text: string, at: 'rcpt' | 'data' = 'rcpt', who = user): void => {
  smtp.answer = (stage, to) => (stage === at && to === who.notification_email ? { code, text } : null);
};
/** Moves all counted refusals into the past. */
const ageRefusals = (by: string) =>
  service.database.query('update suspect_addresses set refused_at = refused_at - $1::interval', [by]);
async function makeAddressSuspect(): Promise<void> {
  refuseAddress(550, '5.1.1 no such user');
  for (let count = 0; count < 3; count += 1) {
    await ageRefusals('61 minutes');
    expect(await send()).toMatch(/^failed 550 5\.1\.1/);
  }
  smtp.answer = () => null;
}
const HELD = 'dropped not tried: its address was refused too often';
const publishAndWaitForMail = async (event: Parameters<typeof publish>[1]): Promise<string> => {
  await publish(nats, event);
  await worker.drained();
  const [row] = await service.database.query<{ id: number }>('select max(id)::integer as id from account_mails');
  return waitForFinalState('account_mails', row!.id);
};
const at = new Date().toISOString();
const confirmationEvent = () => {
  const data = { email_id: user.id, user_id: user.id, requested_at: at };
  return emailConfirmationRequested.of({ aggregateId: user.id, actorId: user.id, data });
};

test('an address that is refused three times gets no more e-mail, others do', async () => {
  await makeAddressSuspect();
  expect(await send()).toBe(HELD);
  const other = await service.seed.user();
  expect(await send(other)).toMatch(/^sent/);
  expect(smtp.recipients()).toEqual([other.username]);
  const [row] = await service.database.query<object>(
    'select * from suspect_addresses order by refused_at desc limit 1',
  );
  expect(JSON.stringify(row)).not.toContain(user.username);
});

test.each<[string, number, string, 'rcpt' | 'data']>([
  ['a temporary refusal', 451, '4.3.0 later', 'rcpt'],
  ['a refusal of the text', 554, '5.6.0 not wanted', 'data'],
  ['a refusal by policy', 550, '5.7.1 not from you', 'rcpt'],
  ['a refused sender', 550, '5.1.8 sender rejected', 'rcpt'],
  ['a sender with a bad address', 553, '5.1.7 bad sender', 'rcpt'],
  ['a refused HELO', 504, '5.5.2 need a full name', 'rcpt'],
  ['a server that wants a login', 530, 'log in first', 'rcpt'],
  ['a full mailbox', 552, '5.2.2 over quota', 'rcpt'],
  ['a recipient of too many messages', 550, '5.2.1 too fast', 'rcpt'],
])('%s does not make an address suspect', async (_, code, text, stage) => {
  for (let count = 0; count < 4; count += 1) {
    await ageRefusals('61 minutes');
    refuseAddress(code, text, stage);
    if (code < 500) setTimeout(() => (smtp.answer = () => null), 100);
    expect(await send()).toMatch(code < 500 ? /^sent/ : /^failed/);
  }
  smtp.answer = () => null;
  expect(await send()).toMatch(/^sent/);
});

test.each([
  [550, 'no such user'],
  [551, 'moved'],
  [553, 'no such name'],
  [550, '5.1.10 takes no mail'],
  [556, '5.1.2 no such domain'],
])('the refusal %s %s makes an address suspect', async (code, text) => {
  refuseAddress(code, text);
  for (let count = 0; count < 3; count += 1) {
    await ageRefusals('61 minutes');
    expect(await send()).toMatch(/^failed/);
  }
  expect(await send()).toBe(HELD);
});

test('refusals within an hour count as one', async () => {
  refuseAddress(550, '5.1.1 no such user');
  for (let count = 0; count < 5; count += 1) expect(await send()).toMatch(/^failed/);
  smtp.answer = () => null;
  expect(await send()).toMatch(/^sent/);
});

test('refusals are forgotten after 30 days, and a job deletes them', async () => {
  await makeAddressSuspect();
  await ageRefusals('29 days');
  expect(await send()).toBe(HELD);
  await ageRefusals('1 day');
  refuseAddress(550, '5.1.1 no such user');
  expect(await send()).toMatch(/^failed/);
  expect(await send()).toMatch(/^failed/);
  const rows = () => service.database.query<{ refusals: number }>('select refusals from suspect_addresses');
  const before = (await rows()).length;
  await service.database.query(`insert into suspect_addresses (digest, refusals, refused_at)
    select 'old ' || n, 3, now() - interval '30 days 1 minute' from generate_series(1, 2500) n`);
  expect(await worker.get(OldMailRefusalsJob).run()).toBeGreaterThanOrEqual(2500);
  const left = await rows();
  expect(left.length).toBeLessThanOrEqual(before);
  expect(left).toContainEqual({ refusals: 1 });
});

test('refused requests to confirm an address do not count', async () => {
  refuseAddress(550, '5.1.1 no such user');
  for (let count = 0; count < 4; count += 1) {
    await ageRefusals('61 minutes');
    expect(await publishAndWaitForMail(confirmationEvent())).toMatch(/^failed/);
  }
  smtp.answer = () => null;
  expect(await send()).toMatch(/^sent/);
});

test('an e-mail taken for a suspect address is sent to the address that its recipient chose since', async () => {
  await makeAddressSuspect();
  const chosen = `new-${user.username}@mail.example`;
  const waiting = await service.seed.user();
  let answer: (value: null) => void = () => undefined;
  let isStalled = false;
  smtp.answer = (stage, to) => {
    if (stage !== 'data' || isStalled || to !== waiting.notification_email) return null;
    isStalled = true;
    return new Promise<null>((resolve) => (answer = resolve));
  };
  const all = sendMailsTo(waiting, user);
  await until(() => isStalled, 'the first message');
  await service.seed.put('users', { ...user, notification_email: chosen });
  setTimeout(() => answer(null), 2 * CHECK_VALID_MS);
  expect(await all).toEqual([expect.stringMatching(/^sent/), expect.stringMatching(/^sent/)]);
  expect(smtp.mails.map(({ to }) => to)).toContain(chosen);
});

test('an accepted e-mail ends the count', async () => {
  for (let round = 0; round < 2; round += 1) {
    refuseAddress(550, 'no such user');
    for (let count = 0; count < 2; count += 1) {
      await ageRefusals('61 minutes');
      expect(await send()).toMatch(/^failed/);
    }
    smtp.answer = () => null;
    expect(await send()).toMatch(/^sent/);
  }
});

test('the case of an address does not matter, and another address of the user is not suspect', async () => {
  await makeAddressSuspect();
  await service.seed.put('users', { ...user, notification_email: user.notification_email!.toUpperCase() });
  expect(await send()).toBe(HELD);
  await service.seed.put('users', { ...user, notification_email: `new-${user.username}@mail.example` });
  expect(await send()).toMatch(/^sent/);
});

test('e-mails about accounts are dropped too, but a request to confirm the address is sent, and ends it', async () => {
  await makeAddressSuspect();
  const data = { token_id: 1, previous_token_id: 2, user_id: user.id, recipient_ids: [user.id], rotated_at: at };
  expect(await publishAndWaitForMail(accessTokenRotated.of({ aggregateId: 1, actorId: null, data }))).toBe(HELD);
  refuseAddress(550, 'no such user');
  expect(await publishAndWaitForMail(confirmationEvent())).toMatch(/^failed/);
  expect(await send()).toBe(HELD);
  smtp.answer = () => null;
  expect(await publishAndWaitForMail(confirmationEvent())).toMatch(/^sent/);
  expect(await send()).toMatch(/^sent/);
});

test('the choice of the address ends it; the choice of one that is not confirmed and other changes do not', async () => {
  await makeAddressSuspect();
  const put = (body: object) =>
    service.app.as(service.seed.viewer(user)).put('/api/v4/notification_settings').send(body);
  await put({ level: 'watch' }).expect(200);
  identity.choose = () => ({ outcome: 'not_verified', email: user.notification_email! });
  await put({ notification_email: user.notification_email }).expect(400);
  expect(await send()).toBe(HELD);
  identity.choose = () => ({ outcome: 'chosen', email: user.notification_email! });
  await put({ notification_email: user.notification_email }).expect(200);
  expect(await send()).toMatch(/^sent/);
});
