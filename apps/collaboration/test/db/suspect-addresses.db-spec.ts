import { accessTokenRotated, emailConfirmationRequested } from '@rookery/contracts';
import type { DirectoryProject } from '@rookery/contracts';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
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
  const env = { SMTP_URL: smtp.url, IDENTITY_URL: identity.url, MAILER_POLL_MS: '20', MAILER_RETRY_FIRST_MS: '20' };
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

/** Queues an e-mail and returns its end: state and reply. */
async function send(to = user): Promise<string> {
  const [row] = await service.database.query<{ id: number }>(
    `insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id)
     values (gen_random_uuid(), $1, 'issue_closed', $2, $3, 'Issue', $4) returning id`,
    [to.id, actor.id, project.id, issueId],
  );
  return ended('mails', row!.id);
}
async function ended(table: 'mails' | 'account_mails', id: number): Promise<string> {
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
const refuse = (code: number, text: string, at: 'rcpt' | 'data' = 'rcpt', who = user): void => {
  smtp.answer = (stage, to) => (stage === at && to === who.notification_email ? { code, text } : null);
};
async function makeSuspect(): Promise<void> {
  refuse(550, '5.1.1 no such user');
  for (let count = 0; count < 3; count += 1) expect(await send()).toMatch(/^failed 550 5\.1\.1/);
  smtp.answer = () => null;
}
const HELD = 'dropped not tried: its address was refused too often';
const account = async (event: Parameters<typeof publish>[1]): Promise<string> => {
  await publish(nats, event);
  await worker.drained();
  const [row] = await service.database.query<{ id: number }>('select max(id)::integer as id from account_mails');
  return ended('account_mails', row!.id);
};
const at = new Date().toISOString();
const confirmation = () => {
  const data = { email_id: user.id, user_id: user.id, requested_at: at };
  return emailConfirmationRequested.of({ aggregateId: user.id, actorId: user.id, data });
};

test('an address that is refused three times gets no more e-mail, others do', async () => {
  await makeSuspect();
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
])('%s does not make an address suspect', async (_, code, text, stage) => {
  for (let count = 0; count < 4; count += 1) {
    refuse(code, text, stage);
    if (code < 500) setTimeout(() => (smtp.answer = () => null), 100);
    expect(await send()).toMatch(code < 500 ? /^sent/ : /^failed/);
  }
  smtp.answer = () => null;
  expect(await send()).toMatch(/^sent/);
});

test('an accepted e-mail ends the count', async () => {
  for (let round = 0; round < 2; round += 1) {
    refuse(550, 'no such user');
    for (let count = 0; count < 2; count += 1) expect(await send()).toMatch(/^failed/);
    smtp.answer = () => null;
    expect(await send()).toMatch(/^sent/);
  }
});

test('the case of an address does not matter, and another address of the user is not suspect', async () => {
  await makeSuspect();
  await service.seed.put('users', { ...user, notification_email: user.notification_email!.toUpperCase() });
  expect(await send()).toBe(HELD);
  await service.seed.put('users', { ...user, notification_email: `new-${user.username}@mail.example` });
  expect(await send()).toMatch(/^sent/);
});

test('e-mails about accounts are dropped too, but a request to confirm the address is sent, and ends it', async () => {
  await makeSuspect();
  const data = { token_id: 1, previous_token_id: 2, user_id: user.id, recipient_ids: [user.id], rotated_at: at };
  expect(await account(accessTokenRotated.of({ aggregateId: 1, actorId: null, data }))).toBe(HELD);
  refuse(550, 'no such user');
  expect(await account(confirmation())).toMatch(/^failed/);
  expect(await send()).toBe(HELD);
  smtp.answer = () => null;
  expect(await account(confirmation())).toMatch(/^sent/);
  expect(await send()).toMatch(/^sent/);
});

test('the choice of the address ends it; the choice of one that is not confirmed and other changes do not', async () => {
  await makeSuspect();
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
