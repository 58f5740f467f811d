import {
  accessTokenCreated,
  accessTokenExpiryApproached,
  accessTokenRotated,
  dependencyListExportFinished,
  emailAdded,
  emailConfirmationRequested,
} from '@rookery/contracts';
import type { AccountMailFacts } from '@rookery/contracts';
import { startNats, until } from '@rookery/testing';
import type { PrivateNats, SeededService } from '@rookery/testing';
import { AccountFacts } from '../support/account-facts';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { deleteOldRows } from '../support/old-rows';
import { publish } from '../support/publish';
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
const dateInDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const confirmationRequestedEvent = (email_id = 7, user_id = 42) =>
  emailConfirmationRequested.of({
    aggregateId: email_id,
    actorId: 5,
    data: { email_id, user_id, requested_at: new Date().toISOString() },
  });
interface AccountMailRow {
  readonly state: string;
  readonly attempts: number;
  readonly smtp_reply: string | null;
  readonly message_id: string | null;
}
const rows = () =>
  service.database.query<AccountMailRow>(
    'select state, attempts, smtp_reply, message_id from account_mails order by id',
  );
const waitForStates = (count: number, ...states: string[]) =>
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

test('a user who gave an address gets the link once, even if the event is redelivered', async () => {
  const link = 'http://localhost:8080/users/confirmation?confirmation_token=7.abc';
  identity.answer = () => facts({ link });
  const worker = await start();
  const id = await publish(nats, confirmationRequestedEvent());
  await waitForStates(1, 'sent');
  await publish(nats, confirmationRequestedEvent(), id);
  await worker.drained();
  expect(await rows()).toHaveLength(1);
  // Identity is asked when the e-mail is claimed and right before it is sent.
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

test('each recipient gets an e-mail about a change of a token', async () => {
  identity.answer = ({ recipient_id }) =>
    facts({ address: `p${recipient_id}@mail.example`, token: { name: 'deploy', expires_on: dateInDays(7) } });
  await start();
  const data = { token_id: 9, user_id: 1, recipient_ids: [1, 2] };
  await publish(
    nats,
    accessTokenExpiryApproached.of({
      aggregateId: 9,
      actorId: null,
      data: { ...data, days_left: 7, expires_on: dateInDays(7) },
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
  await waitForStates(4, 'sent');
  expect(smtp.recipients()).toEqual(['p1', 'p1', 'p2', 'p2']);
  expect(new Set(smtp.mails.map((mail) => mail.parsed.subject))).toEqual(
    new Set(['An access token expires in 7 days', 'An access token was rotated']),
  );
  expect(new Set(smtp.mails.map((mail) => mail.parsed.messageId)).size).toBe(4);
});

test('a user gets an e-mail about a new token and a further address', async () => {
  identity.answer = ({ template }) =>
    template === 'token_created'
      ? facts({ token: { name: 'deploy', expires_on: '2027-01-02' } })
      : facts({ added: 'ann.two@mail.example' });
  await start();
  const created_at = new Date().toISOString();
  const token = { token_id: 9, user_id: 42, created_at, recipient_ids: [42] };
  await publish(nats, accessTokenCreated.of({ aggregateId: 9, actorId: 1, data: token }));
  const email = { email_id: 8, user_id: 42, added_at: created_at };
  await publish(nats, emailAdded.of({ aggregateId: 8, actorId: 42, data: email }));
  await waitForStates(2, 'sent');
  expect(identity.questions).toEqual(
    expect.arrayContaining([
      { template: 'token_created', recipient_id: 42, subject_id: 9 },
      { template: 'email_added', recipient_id: 42, subject_id: 8 },
    ]),
  );
  const texts = smtp.mails.map(({ parsed }) => `${parsed.subject}: ${parsed.text}`).sort();
  expect(texts[0]).toMatch(
    /^An e-mail address was added to your account: The address ann\.two@mail\.example was added/,
  );
  expect(texts[1]).toMatch(
    /^You have a new access token: The access token "deploy" was made .* It ends on 2027-01-02\./,
  );
});

test('the author of an export gets the link if an e-mail was asked for', async () => {
  const link = 'http://localhost:8080/api/v4/dependency_list_exports/3/download';
  identity.answer = () => facts({ link });
  const worker = await start();
  const finished = (export_id: number, send_email: boolean) =>
    dependencyListExportFinished.of({
      aggregateId: export_id,
      actorId: 42,
      data: {
        ...{ export_id, project_id: 7, group_id: null, pipeline_id: null, author_id: 42, export_type: 'csv' },
        send_email,
      },
    });
  await publish(nats, finished(2, false));
  await publish(nats, finished(3, true));
  await waitForStates(1, 'sent');
  await worker.drained();
  expect(identity.questions[0]).toEqual({ template: 'dependency_list_exported', recipient_id: 42, subject_id: 3 });
  expect(smtp.mails).toHaveLength(1);
  expect(smtp.mails[0]!.parsed).toMatchObject({
    subject: 'Your dependency list is ready',
    text: expect.stringContaining(link),
  });
});

test('an e-mail that is no longer due is dropped instead of sent', async () => {
  identity.answer = ({ recipient_id }) => (recipient_id === 2 ? null : facts());
  await queue([1, 2, 3]);
  await start();
  await waitForStates(3, 'sent', 'dropped');
  expect((await rows()).map((row) => row.state)).toEqual(['sent', 'dropped', 'sent']);
  expect(smtp.mails).toHaveLength(2);
});

test('an e-mail that ceases to be due while others are sent is not sent', async () => {
  identity.answer = ({ recipient_id }) =>
    recipient_id === 2 && identity.questions.length > 3 ? null : facts({ address: `p${recipient_id}@mail.example` });
  await queue([1, 2, 3]);
  await start({ MAILER_CONNECTIONS_COUNT: '1' });
  await waitForStates(3, 'sent', 'dropped');
  expect((await rows()).map((row) => row.state)).toEqual(['sent', 'dropped', 'sent']);
  expect(smtp.recipients()).toEqual(['p1', 'p3']);
});

test.each<[string, { readonly address?: string; readonly link?: string }]>([
  ['address', { address: 'new@mail.example' }],
  ['link', { link: 'http://localhost:8080/new' }],
])('an e-mail whose %s changes while others are sent uses the new one', async (_, change) => {
  const old = { address: 'old@mail.example', link: 'http://localhost:8080/old' };
  identity.answer = ({ recipient_id }) => {
    if (recipient_id !== 2) return facts({ address: `p${recipient_id}@mail.example` });
    return facts({ ...old, ...(identity.questions.length > 3 ? change : {}) });
  };
  await queue([1, 2, 3]);
  await start({ MAILER_CONNECTIONS_COUNT: '1' });
  await waitForStates(3, 'sent');
  expect(smtp.mails).toHaveLength(3);
  const mail = smtp.mails.find(({ to }) => !/^p\d@/.test(to))!;
  const { address, link } = { ...old, ...change };
  expect([mail.to, mail.parsed.text]).toEqual([address, expect.stringContaining(link)]);
});

test('while identity is down e-mails wait, and are sent when it is back', async () => {
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
  await waitForStates(2, 'sent');
  expect(smtp.mails).toHaveLength(2);
  expect(worker.logs.filter((line) => line['level'] === 'error')).toEqual([]);
});

test('while an older identity does not know a template, only e-mails of that template wait', async () => {
  identity.answer = ({ recipient_id }) =>
    recipient_id === 3 ? null : facts({ address: `p${recipient_id}@mail.example` });
  identity.isKnown = ({ template }) => template !== 'email_added';
  await queue([1, 2, 3, 4]);
  await service.database.query(`update account_mails set template = 'email_added' where recipient_id = 2`);
  await start();
  await until(async () => (await rows()).every((row) => row.attempts > 0), 'tries');
  await until(async () => (await rows()).filter((row) => row.state === 'queued').length === 1, 'the others');
  expect((await rows()).map((row) => row.state)).toEqual(['sent', 'queued', 'dropped', 'sent']);
  expect((await rows())[1]!.smtp_reply).toMatch(/^not tried: identity/);
  identity.isKnown = () => true;
  await waitForStates(4, 'sent', 'dropped');
  expect(smtp.recipients()).toEqual(['p1', 'p2', 'p4']);
});

test('two processes send each e-mail once; temporary refusals are retried, final ones are not', async () => {
  const people = Array.from({ length: 60 }, (_, index) => index + 1);
  identity.answer = ({ recipient_id }) => facts({ address: `p${recipient_id}@mail.example` });
  let tries = 0;
  smtp.answer = (stage, to) => {
    if (stage === 'rcpt' && to === 'p1@mail.example' && ++tries < 3) return { code: 451, text: 'try later' };
    return stage === 'rcpt' && to === 'p2@mail.example' ? { code: 550, text: 'no such user' } : null;
  };
  await queue(people);
  await Promise.all([start(), start()]);
  await waitForStates(60, 'sent', 'failed');
  expect(smtp.mails).toHaveLength(59);
  expect(new Set(smtp.mails.map((mail) => mail.to)).size).toBe(59);
  expect((await rows()).slice(0, 3)).toMatchObject([
    { state: 'sent', attempts: 3 },
    { state: 'failed', attempts: 1, smtp_reply: expect.stringContaining('550 no such user') },
    { state: 'sent', attempts: 1 },
  ]);
});

test('no e-mail is sent to an invalid address', async () => {
  identity.answer = () => facts({ address: 'ann@mail.example\r\nBcc: victim@mail.example' });
  await queue([1]);
  await start();
  await waitForStates(1, 'failed');
  expect(smtp.mails).toEqual([]);
});

test('a user has one allowance for all e-mails', async () => {
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

test('e-mails claimed by a killed process are claimed by another after the lease', async () => {
  identity.answer = () => facts();
  await queue([1]);
  await service.database.query(
    `update account_mails set attempts = 1, next_attempt_at = now() + interval '300 milliseconds'`,
  );
  await start();
  await waitForStates(1, 'sent');
  expect((await rows())[0]!.attempts).toBe(2);
});

test('while e-mails are disabled, none is queued', async () => {
  const worker = await start({ MAILER_ENABLED: 'off' });
  await publish(nats, confirmationRequestedEvent(8));
  await worker.drained();
  expect(await rows()).toEqual([]);
});

test('old e-mails are deleted, queued ones are not', async () => {
  await queue([1, 2, 3]);
  await service.database.query(
    `update account_mails set created_at = now() - interval '31 days', next_attempt_at = 'infinity',
       state = case recipient_id when 1 then 'queued' when 2 then 'sent' else 'dropped' end`,
  );
  expect(await deleteOldRows(service)).toBe(2);
  expect(await rows()).toMatchObject([{ state: 'queued' }]);
});

test('a user whose gists were left out gets their names with the reasons', async () => {
  identity.answer = () => facts();
  const leftOut = [
    { name: 'Big <b>one</b>\nBcc: x@y.example', reason: 'It has more than 10 files.' },
    { name: 'Odd', reason: 'Its files are too large.' },
  ];
  await service.database.query(
    `insert into account_mails (source_event_id, recipient_id, template, subject_id, left_out)
     values (gen_random_uuid(), 42, 'gists_left_out', 7, $1)`,
    [JSON.stringify(leftOut)],
  );
  await start();
  await waitForStates(1, 'sent');
  const { parsed } = smtp.mails[0]!;
  expect(parsed.subject).toBe('Some gists were not imported');
  expect(parsed.text).toContain('Big <b>one</b> Bcc: x@y.example: It has more than 10 files.');
  expect(parsed.text).toContain('Odd: Its files are too large.');
  expect(parsed.html).toContain('Big &lt;b&gt;one&lt;/b&gt; Bcc');
});
