import { accessTokenExpiryApproached, accessTokenRotated, emailConfirmationRequested } from '@rookery/contracts';
import type { AccountMailFacts } from '@rookery/contracts';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService } from '@rookery/testing';
import { AccountFacts } from '../support/account-facts';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { dropOld } from '../support/old-rows';
import { publish } from '../support/published';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let identity: AccountFacts;
const workers: Worker[] = [];

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
});
afterAll(async () => {
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  await service.database.query('delete from account_mails');
  await service.database.query('delete from mail_allowances');
  smtp = await startMailServer();
  identity = new AccountFacts();
  await identity.listen();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await smtp.stop();
  await identity.close();
});

const start = async (env: Record<string, string> = {}): Promise<Worker> => {
  const retries = { MAILER_POLL_MS: '20', MAILER_RETRY_FIRST_MS: '20', MAILER_RETRY_MOST_MS: '100' };
  const worker = await startWorker({
    databaseUrl: service.databaseUrl,
    nats,
    env: { SMTP_URL: smtp.url, IDENTITY_URL: identity.url, ...retries, ...env },
  });
  workers.push(worker);
  return worker;
};
const facts = (over: Partial<AccountMailFacts> = {}): AccountMailFacts => ({
  address: 'ann@mail.example',
  name: 'Ann',
  link: null,
  token: null,
  ...over,
});
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const asked = (email_id = 7, user_id = 42) =>
  emailConfirmationRequested.of({
    aggregateId: email_id,
    actorId: 5,
    data: { email_id, user_id, requested_at: new Date().toISOString() },
  });
interface Row {
  readonly state: string;
  readonly attempts: number;
  readonly smtp_reply: string | null;
  readonly message_id: string | null;
}
const rows = () =>
  service.database.query<Row>('select state, attempts, smtp_reply, message_id from account_mails order by id');
const allIn = (count: number, ...states: string[]) =>
  until(
    async () => {
      const found = await rows();
      return found.length === count && found.every((row) => states.includes(row.state));
    },
    `${count} in ${states.join(' or ')}`,
  );
/** Queues one e-mail for each recipient. */
const queue = (recipients: readonly number[]) =>
  service.database.query(
    `insert into account_mails (source_event_id, recipient_id, template, subject_id)
     select gen_random_uuid(), r, 'email_confirmation', r from unnest($1::bigint[]) r`,
    [recipients],
  );

test('somebody who gave an address is sent the link once, however often the event comes', async () => {
  const link = 'http://localhost:8080/users/confirmation?confirmation_token=7.abc';
  identity.answer = () => facts({ link });
  const worker = await start();
  const id = await publish(nats, asked());
  await allIn(1, 'sent');
  await publish(nats, asked(), id);
  await worker.drained();
  expect(await rows()).toHaveLength(1);
  // When it is taken, and right before it leaves.
  const question = { template: 'email_confirmation', recipient_id: 42, subject_id: 7 };
  expect(identity.questions.length).toBeGreaterThan(1);
  expect(identity.questions).toEqual(identity.questions.map(() => question));
  const [mail] = smtp.mails;
  expect(mail!.to).toBe('ann@mail.example');
  const { parsed } = mail!;
  expect(parsed.subject).toBe('Confirm your e-mail address');
  expect(parsed.text).toContain(link);
  expect(parsed.html).toContain(`<a href="${link}">`);
  expect(parsed.from!.text).toBe('rookery@localhost');
  expect(parsed.headers.get('auto-submitted')).toBe('auto-generated');
  expect((await rows())[0]!.message_id).toBe(parsed.messageId);
  const [stored] = await service.database.query<{ row: string }>(
    'select to_jsonb(m)::text as row from account_mails m',
  );
  expect(stored!.row).not.toMatch(/mail\.example|confirmation_token/);
});

test('what happens to a token is told to each of its people', async () => {
  identity.answer = ({ recipient_id }) =>
    facts({ address: `p${recipient_id}@mail.example`, token: { name: 'deploy', expires_on: inDays(7) } });
  await start();
  const data = { token_id: 9, user_id: 1, recipient_ids: [1, 2] };
  await publish(
    nats,
    accessTokenExpiryApproached.of({
      aggregateId: 9,
      actorId: null,
      data: { ...data, days_left: 7, expires_on: inDays(7) },
    }),
  );
  await publish(
    nats,
    accessTokenRotated.of({
      aggregateId: 9,
      actorId: 1,
      data: { ...data, previous_token_id: 8, rotated_at: new Date().toISOString() },
    }),
  );
  await allIn(4, 'sent');
  expect(smtp.recipients()).toEqual(['p1', 'p1', 'p2', 'p2']);
  expect(new Set(smtp.mails.map((mail) => mail.parsed.subject))).toEqual(
    new Set(['An access token expires in 7 days', 'An access token was rotated']),
  );
  expect(new Set(smtp.mails.map((mail) => mail.parsed.messageId)).size).toBe(4);
});

test('what is settled meanwhile is dropped, and nobody hears of it', async () => {
  identity.answer = ({ recipient_id }) => (recipient_id === 2 ? null : facts());
  await queue([1, 2, 3]);
  await start();
  await allIn(3, 'sent', 'dropped');
  expect((await rows()).map((row) => row.state)).toEqual(['sent', 'dropped', 'sent']);
  expect(smtp.mails).toHaveLength(2);
});

test('what is settled while others are sent does not leave', async () => {
  identity.answer = ({ recipient_id }) =>
    recipient_id === 2 && identity.questions.length > 3 ? null : facts({ address: `p${recipient_id}@mail.example` });
  await queue([1, 2, 3]);
  await start({ MAILER_CONNECTIONS_COUNT: '1' });
  await allIn(3, 'sent', 'dropped');
  expect((await rows()).map((row) => row.state)).toEqual(['sent', 'dropped', 'sent']);
  expect(smtp.recipients()).toEqual(['p1', 'p3']);
});

test.each<[string, { readonly address?: string; readonly link?: string }]>([
  ['address', { address: 'new@mail.example' }],
  ['link', { link: 'http://localhost:8080/new' }],
])('what has another %s while others are sent leaves with that one', async (_, change) => {
  const old = { address: 'old@mail.example', link: 'http://localhost:8080/old' };
  identity.answer = ({ recipient_id }) => {
    if (recipient_id !== 2) return facts({ address: `p${recipient_id}@mail.example` });
    return facts({ ...old, ...(identity.questions.length > 3 ? change : {}) });
  };
  await queue([1, 2, 3]);
  await start({ MAILER_CONNECTIONS_COUNT: '1' });
  await allIn(3, 'sent');
  expect(smtp.mails).toHaveLength(3);
  const told = smtp.mails.find(({ to }) => !/^p\d@/.test(to))!;
  const { address, link } = { ...old, ...change };
  expect([told.to, told.parsed.text]).toEqual([address, expect.stringContaining(link)]);
});

test('while identity is away everything waits, and goes when it is back', async () => {
  identity.answer = () => facts();
  const port = Number(new URL(identity.url).port);
  await identity.close();
  await queue([1, 2]);
  const worker = await startWorker({
    databaseUrl: service.databaseUrl,
    nats,
    env: {
      SMTP_URL: smtp.url,
      IDENTITY_URL: `http://127.0.0.1:${port}`,
      MAILER_POLL_MS: '20',
      MAILER_RETRY_FIRST_MS: '20',
      MAILER_RETRY_MOST_MS: '100',
    },
  });
  workers.push(worker);
  await until(async () => (await rows()).every((row) => row.attempts >= 2), 'tries');
  expect(await rows()).toMatchObject([
    { state: 'queued', smtp_reply: 'not tried: identity is away' },
    { state: 'queued', smtp_reply: 'not tried: identity is away' },
  ]);
  await identity.listen(port);
  await allIn(2, 'sent');
  expect(smtp.mails).toHaveLength(2);
  expect(worker.logs.filter((line) => line['level'] === 'error')).toEqual([]);
});

test('two processes send each once; a temporary refusal is tried again, a final one is not', async () => {
  const people = Array.from({ length: 60 }, (_, index) => index + 1);
  identity.answer = ({ recipient_id }) => facts({ address: `p${recipient_id}@mail.example` });
  let tries = 0;
  smtp.answer = (stage, to) => {
    if (stage === 'rcpt' && to === 'p1@mail.example' && ++tries < 3) return { code: 451, text: 'try later' };
    return stage === 'rcpt' && to === 'p2@mail.example' ? { code: 550, text: 'no such user' } : null;
  };
  await queue(people);
  await Promise.all([start(), start()]);
  await allIn(60, 'sent', 'failed');
  expect(smtp.mails).toHaveLength(59);
  expect(new Set(smtp.mails.map((mail) => mail.to)).size).toBe(59);
  expect((await rows()).slice(0, 3)).toMatchObject([
    { state: 'sent', attempts: 3 },
    { state: 'failed', attempts: 1, smtp_reply: expect.stringContaining('550 no such user') },
    { state: 'sent', attempts: 1 },
  ]);
});

test('an address that is none is sent nothing', async () => {
  identity.answer = () => facts({ address: 'ann@mail.example\r\nBcc: victim@mail.example' });
  await queue([1]);
  await start();
  await allIn(1, 'failed');
  expect(smtp.mails).toEqual([]);
});

test('a person has one allowance for all their e-mails', async () => {
  identity.answer = () => facts();
  await service.database.query(`insert into mail_allowances (recipient_id, tokens, refilled_at) values (1, 1, now())`);
  await queue([1, 1, 1]);
  await start({ MAILER_PER_RECIPIENT_PER_MINUTE_COUNT: '1' });
  await until(() => smtp.mails.length === 1, 'the first');
  const late = await service.database.query(
    `select 1 from account_mails where state = 'queued' and attempts = 0 and next_attempt_at > now() + interval '30 seconds'`,
  );
  expect(late).toHaveLength(2);
});

test('what a process took before it died is taken by another when its lease is over', async () => {
  identity.answer = () => facts();
  await queue([1]);
  await service.database.query(
    `update account_mails set attempts = 1, next_attempt_at = now() + interval '300 milliseconds'`,
  );
  await start();
  await allIn(1, 'sent');
  expect((await rows())[0]!.attempts).toBe(2);
});

test('while e-mails are switched off, nothing is queued', async () => {
  const worker = await start({ MAILER_ENABLED: 'off' });
  await publish(nats, asked(8));
  await worker.drained();
  expect(await rows()).toEqual([]);
});

test('old ones are dropped, those that wait are not', async () => {
  await queue([1, 2, 3]);
  await service.database.query(
    `update account_mails set created_at = now() - interval '31 days', next_attempt_at = 'infinity',
       state = case recipient_id when 1 then 'queued' when 2 then 'sent' else 'dropped' end`,
  );
  expect(await dropOld(service)).toBe(2);
  expect(await rows()).toMatchObject([{ state: 'queued' }]);
});
