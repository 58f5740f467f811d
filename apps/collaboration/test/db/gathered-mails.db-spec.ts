import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { startNats, until } from '@rookery/testing';
import type { DirectoryProject } from '@rookery/contracts';
import { JUDGED_MS } from '../../src/notifications/mailer/judgement';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { dropOld } from '../support/old-rows';
import { startWorker } from '../support/worker';
import type { Worker } from '../support/worker';

let service: SeededService;
let nats: PrivateNats;
let smtp: MailServer;
let project: DirectoryProject;
let bob: SeededUser;
let carol: SeededUser;
let reader: SeededUser;
let issue: number;
let other: number;
let epic: number;
const workers: Worker[] = [];
const query = <R>(sql: string, values: readonly unknown[] = []) => service.database.query<R>(sql, values);
const idOf = async (sql: string, values: readonly unknown[]): Promise<number> =>
  (await query<{ id: number }>(`${sql} returning id`, values))[0]!.id;

beforeAll(async () => {
  service = await startCollaboration();
  nats = await startNats();
});
afterAll(async () => {
  await nats.drop();
  await service.close();
});
beforeEach(async () => {
  await query('delete from mails');
  await query('delete from mail_allowances');
  project = await service.seed.project();
  [bob, carol, reader] = [await service.seed.user(), await service.seed.user(), await service.seed.user()];
  const opened = (iid: number, title: string) =>
    idOf(`insert into issues (project_id, iid, author_id, title) values ($1, $2, $3, $4)`, [
      project.id,
      iid,
      bob.id,
      title,
    ]);
  issue = await opened(1, 'Title');
  other = await opened(2, 'Other');
  const { id: groupId } = await service.seed.group({ plan: 'premium' });
  epic = await idOf(
    `insert into epics (group_id, iid, author_id, title, color, text_color) values ($1, 1, $2, 'Goal', '#fff', '#000')`,
    [groupId, bob.id],
  );
  smtp = await startMailServer();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await smtp.stop();
});

/** A minute for each turn: nothing goes until the test lets it. */
const start = async (env: Record<string, string> = {}): Promise<Worker> => {
  const values = { MAILER_POLL_MS: '20', MAILER_RETRY_FIRST_MS: '20', MAILER_RETRY_MOST_MS: '100' };
  const allowance = { MAILER_PER_RECIPIENT_PER_MINUTE_COUNT: '1' };
  const worker = await startWorker({
    databaseUrl: service.databaseUrl,
    nats,
    env: { SMTP_URL: smtp.url, ...values, ...allowance, ...env },
  });
  workers.push(worker);
  return worker;
};
interface Told {
  readonly by?: SeededUser;
  readonly on?: { readonly type: string; readonly id: number };
  readonly to?: SeededUser;
  readonly reason?: string;
}
/** Notes, and an e-mail of each. */
const told = async (texts: readonly string[], { by = bob, on, to = reader, reason }: Told = {}): Promise<void> => {
  const { type, id } = on ?? { type: 'Issue', id: issue };
  await query(
    `with told as (
       insert into notes (noteable_type, noteable_id, project_id, author_id, body, created_at, updated_at)
       select $1, $2, case when $1 = 'Issue' then $3::bigint end, $4, body, now(), now()
       from unnest($5::text[]) with ordinality as t (body, number) order by number returning id)
     insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, note_id, reason)
     select gen_random_uuid(), $6, 'note_created', $4, case when $1 = 'Issue' then $3::bigint end, $1, $2, id, $7
     from told order by id`,
    [type, id, project.id, by.id, texts, to.id, reason ?? null],
  );
};
const many = (count: number, word = 'word') => Array.from({ length: count }, (_, index) => `${word} ${index + 1}`);
/** What they get is used up for a while. */
const usedUp = (...people: readonly SeededUser[]) =>
  query(`insert into mail_allowances (recipient_id, tokens, refilled_at) select unnest($1::bigint[]), 0, now()`, [
    people.map((one) => one.id),
  ]);
const allPutOff = () =>
  until(
    async () =>
      (await query(`select 1 from mails where state = 'queued' and next_attempt_at <= now() limit 1`)).length === 0,
    'all put off',
  );
/** As when the time of those that wait has come. */
const letGo = async () => {
  const [wait] = await query<{ ms: number }>(
    `select (extract(epoch from max(allowed_at) - now()) * 1000)::int as ms from mails where state = 'queued' and claim is null`,
  );
  await query(
    `update mails set next_attempt_at = next_attempt_at - $1 * interval '1 ms', allowed_at = allowed_at - $1 * interval '1 ms'
     where state = 'queued' and claim is null`,
    [wait!.ms + 1],
  );
};
const states = async () =>
  Object.fromEntries(
    (await query<{ state: string; count: number }>(`select state, count(*)::int from mails group by 1 order by 1`)).map(
      (row) => [row.state, row.count],
    ),
  );
const noneQueued = () => until(async () => (await states())['queued'] === undefined, 'an empty queue');
const goes = async () => {
  await allPutOff();
  await letGo();
  await noneQueued();
};

test('700 of one thread are one e-mail: how many, by whom, the newest, one link, in the thread', async () => {
  await usedUp(reader);
  await told(many(300));
  await told(many(400, 'answer'), { by: carol, reason: 'mentioned' });
  await start();
  await goes();
  expect(smtp.mails).toHaveLength(1);
  expect(await states()).toEqual({ gathered: 700, sent: 1 });
  const { parsed, to } = smtp.mails[0]!;
  const [mail] = await query<{ id: number; message_id: string; template: string; newest: number }>(
    `select id, message_id, template, (select max(id) from notes) as newest from mails where state = 'sent'`,
  );
  expect(to).toBe(reader.notification_email);
  expect(mail!.template).toBe('issue_gathered');
  expect(parsed.messageId).toBe(mail!.message_id);
  expect(parsed.messageId).toMatch(/^<[0-9a-f]{40}@localhost>$/);
  expect([parsed.inReplyTo, parsed.references]).toEqual([`<issue_${issue}@localhost>`, `<issue_${issue}@localhost>`]);
  expect(parsed.subject).toBe(`Re: ${project.name} | Title (#1)`);
  expect(parsed.from!.value[0]!.name).toBe(`${carol.name} (@${carol.username}) and another`);
  expect(parsed.headers.get('x-platform-notificationreason')).toBe('mentioned');
  expect(parsed.headers.has('x-platform-note-id')).toBe(false);
  const text = parsed.text!;
  expect(text).toContain('700 messages about issue #1: Title');
  expect(text).toContain(`By ${carol.name} (@${carol.username}): 400, ${bob.name} (@${bob.username}): 300.`);
  expect(text.match(/answer \d+/g)).toEqual(['answer 396', 'answer 397', 'answer 398', 'answer 399', 'answer 400']);
  expect(text.match(/https?:\S+/g)).toEqual([expect.stringMatching(new RegExp(`/issues/1#note_${mail!.newest}$`))]);
  const [row] = await query<{ count: number }>(
    `select count(*)::int from mails where state = 'gathered' and gathered_into = $1`,
    [mail!.id],
  );
  expect(row!.count).toBe(700);
});

test('each thread has its own, an epic as an issue, and who has an allowance gets each', async () => {
  const free = await service.seed.user();
  await usedUp(reader);
  await told(many(3));
  await told(many(2), { on: { type: 'Issue', id: other } });
  await told(many(4), { on: { type: 'Epic', id: epic } });
  await told(many(2), { to: free });
  await start();
  await goes();
  const got = (person: SeededUser) =>
    smtp.mails.filter((mail) => mail.to === person.notification_email).map((mail) => mail.parsed.text!.split(':')[0]);
  expect(got(reader).sort()).toEqual([
    '2 messages about issue #2',
    '3 messages about issue #1',
    '4 messages about epic &1',
  ]);
  expect(got(free)).toHaveLength(2);
  const thread = smtp.mails.find((mail) => mail.parsed.text!.includes('epic'))!.parsed;
  expect([thread.references, thread.text]).toEqual([
    `<epic_${epic}@localhost>`,
    expect.stringContaining('/-/epics/1#'),
  ]);
  expect(await states()).toEqual({ gathered: 9, sent: 5 });
});

test('one that waits alone goes as any other', async () => {
  await usedUp(reader);
  await told(['alone']);
  await start();
  await goes();
  expect(smtp.mails[0]!.parsed.messageId).toMatch(/^<note_\d+\.[0-9a-f]{20}@localhost>$/);
  expect(await states()).toEqual({ sent: 1 });
});

test('turns are given in advance, one a thread, and what comes later joins', async () => {
  await usedUp(reader);
  await told(many(2));
  await told(many(2), { on: { type: 'Issue', id: other } });
  await start();
  await allPutOff();
  await told(many(3, 'later'));
  await workers[0]!.stop();
  workers.length = 0;
  await start();
  await allPutOff();
  const turns = await query<{ noteable_id: number; count: number; minute: number }>(
    `select noteable_id, count(*)::int, round(extract(epoch from allowed_at - now()) / 60)::int as minute from mails
     where attempts = 0 group by noteable_id, allowed_at order by allowed_at`,
  );
  expect(turns).toEqual([
    { noteable_id: issue, count: 5, minute: 1 },
    { noteable_id: other, count: 2, minute: 2 },
  ]);
});

test('an e-mail tells of a thousand at most; the rest has a turn of its own', async () => {
  await usedUp(reader);
  await told(many(2300));
  await start();
  await allPutOff();
  const turns = await query<{ count: number }>(
    `select count(*)::int from mails where state = 'queued' group by allowed_at order by allowed_at`,
  );
  expect(turns.map((turn) => turn.count)).toEqual([1000, 1000, 300]);
  await goes();
  expect(smtp.mails.map((mail) => parseInt(mail.parsed.text!, 10)).sort()).toEqual([1000, 1000, 300].sort());
});

describe('judged again inside', () => {
  /** Taken while the only connection is busy with somebody else's, and changed before it leaves. */
  async function changedBefore(change: () => Promise<unknown>): Promise<void> {
    let answer: (value: null) => void = () => undefined;
    let stalled = 0;
    smtp.answer = (stage) =>
      stage === 'data' && stalled++ === 0 ? new Promise<null>((resolve) => (answer = resolve)) : null;
    await usedUp(reader);
    await told(['first word', 'second word', 'third word']);
    await told(['fourth word'], { by: carol });
    const first = await start({ MAILER_CONNECTIONS_COUNT: '1' });
    await allPutOff();
    await first.stop();
    workers.length = 0;
    const busy = await service.seed.user();
    await told(['for the busy'], { on: { type: 'Issue', id: other }, to: busy });
    await letGo();
    await start({ MAILER_CONNECTIONS_COUNT: '1' });
    await until(() => stalled === 1, 'the first message');
    await until(async () => (await states())['gathered'] === 4, 'all gathered');
    await change();
    setTimeout(() => answer(null), 2 * JUDGED_MS);
    await noneQueued();
  }
  const mine = () => smtp.mails.filter((mail) => mail.to === reader.notification_email).map((mail) => mail.parsed);

  test.each([
    ['an internal note', `update notes set internal = true where body = 'fourth word' and noteable_id = $1`],
    ['a note that is gone', `delete from notes where body = 'fourth word' and noteable_id = $1`],
  ])('%s is neither told, nor counted, nor its author named', async (_, sql) => {
    await changedBefore(() => query(sql, [issue]));
    const [mail] = mine();
    expect(mail!.text).toContain('3 messages about issue #1');
    expect(mail!.text).not.toContain('fourth');
    expect(`${mail!.text} ${mail!.from!.text}`).not.toContain(carol.username);
    expect(await states()).toEqual({ dropped: 1, gathered: 3, sent: 2 });
  });

  test('what is left alone is told as one', async () => {
    await changedBefore(() =>
      query(`update notes set internal = true where body <> 'first word' and noteable_id = $1`, [issue]),
    );
    expect(mine()[0]!.text).toContain(`commented on issue #1: Title\n\nfirst word`);
    expect(await states()).toEqual({ dropped: 3, gathered: 1, sent: 2 });
  });

  test('nothing is left: no e-mail', async () => {
    await changedBefore(() => query(`update issues set confidential = true where id = $1`, [issue]));
    expect(mine()).toEqual([]);
    expect(await states()).toEqual({ dropped: 5, sent: 1 });
  });

  test('somebody who reads the project no more gets none', async () => {
    await changedBefore(() => service.seed.put('projects', { ...project, visibility: 'private' }));
    expect(mine()).toEqual([]);
    expect((await states())['dropped']).toBe(5);
  });

  test('nothing is told by a copy of the directory that is behind', async () => {
    const refreshed = (at: string) => query(`update directory_state set refreshed_at = ${at}`);
    let undecided: Promise<number> | undefined;
    await changedBefore(async () => {
      await refreshed(`now() - interval '1 hour'`);
      const waits = () => workers[0]!.logs.some((line) => `${line['msg'] as string}`.startsWith('an e-mail waits'));
      undecided = until(() => waits() || mine().length > 0, 'a decision').then(async () => {
        const sent = mine().length;
        await refreshed(`'infinity'`);
        return sent;
      });
    });
    expect(await undecided).toBe(0);
    expect(mine()).toHaveLength(1);
    expect(await states()).toEqual({ gathered: 4, sent: 2 });
  });

  test('whoever has another address now gets it there', async () => {
    const address = `new-${reader.notification_email}`;
    await changedBefore(() => service.seed.put('users', { ...reader, notification_email: address }));
    expect(mine()).toEqual([]);
    expect(smtp.mails.filter((mail) => mail.to === address)).toHaveLength(1);
    expect(await states()).toEqual({ gathered: 4, sent: 2 });
  });

  test('whoever has no single address now gets none, and neither does anybody named in it', async () => {
    const list = `new-${reader.notification_email}, another-${reader.notification_email}`;
    await changedBefore(() => service.seed.put('users', { ...reader, notification_email: list }));
    expect(smtp.mails).toHaveLength(1);
    expect(await states()).toEqual({ failed: 1, gathered: 4, sent: 1 });
  });
});

describe('tried again', () => {
  test('after a crash behind the answer of the server: the same e-mail, and what came meanwhile in another', async () => {
    await usedUp(reader);
    await told(many(4));
    const died = await start();
    await goes();
    await died.stop();
    workers.length = 0;
    // As a process leaves it that died before it could write what the server said, when the lease is over.
    await query(
      `update mails set state = 'queued', sent_at = null, message_id = null, next_attempt_at = now() where state = 'sent'`,
    );
    await told(many(2, 'meanwhile'));
    await start();
    await goes();
    const [first, again, next] = smtp.mails.map((mail) => mail.parsed);
    expect([again!.messageId, again!.text]).toEqual([first!.messageId, first!.text]);
    expect(next!.messageId).not.toBe(first!.messageId);
    expect(next!.text).toContain('2 messages');
    expect(smtp.mails).toHaveLength(3);
    expect(await states()).toEqual({ gathered: 6, sent: 2 });
  });

  test('a temporary refusal: the same, under the same name', async () => {
    const tries: number[] = [];
    smtp.answer = (stage) => (stage === 'rcpt' && tries.push(1) < 3 ? { code: 451, text: 'later' } : null);
    await usedUp(reader);
    await told(many(3));
    await start();
    await goes();
    expect(tries).toHaveLength(3);
    expect(smtp.mails.map((mail) => parseInt(mail.parsed.text!, 10))).toEqual([3]);
    const [mail] = await query<{ attempts: number }>(`select attempts from mails where state = 'sent'`);
    expect(mail!.attempts).toBe(3);
  });

  test('a final refusal ends it with all that it tells of', async () => {
    smtp.answer = () => ({ code: 550, text: 'no such user' });
    await usedUp(reader);
    await told(many(3));
    await start();
    await goes();
    expect(await states()).toEqual({ failed: 1, gathered: 3 });
  });

  test('what was tried by itself stays by itself, also while others of its thread are gathered', async () => {
    await usedUp(reader);
    await told(many(3));
    // As one that the server may have, whose answer is not known.
    await query(`update mails set claim = gen_random_uuid(), attempts = 1, allowed_at = now(),
       next_attempt_at = now() + interval '1 hour' where id = (select min(id) from mails)`);
    await start();
    await allPutOff();
    await letGo();
    await until(() => smtp.mails.length === 1, 'the e-mail of the others');
    await until(async () => (await states())['sent'] === 1, 'its end');
    expect(await states()).toEqual({ gathered: 2, queued: 1, sent: 1 });
    await query(`update mails set next_attempt_at = now() where state = 'queued'`);
    await noneQueued();
    expect(smtp.mails.map((mail) => mail.parsed.messageId!.startsWith('<note_'))).toEqual([false, true]);
    expect(await states()).toEqual({ gathered: 2, sent: 2 });
  });

  test('two processes make one e-mail of it', async () => {
    await usedUp(reader);
    await told(many(500));
    await Promise.all([start(), start()]);
    await goes();
    expect(smtp.mails).toHaveLength(1);
    expect(await states()).toEqual({ gathered: 500, sent: 1 });
  });
});

test('what is told stays while the e-mail of it waits, however old', async () => {
  await usedUp(reader);
  await told(many(3));
  smtp.answer = () => ({ code: 450, text: 'full' });
  const worker = await start();
  await allPutOff();
  await letGo();
  await until(async () => (await states())['gathered'] === 3, 'one of three');
  await worker.stop();
  workers.length = 0;
  await query(`update mails set created_at = now() - interval '31 days'`);
  expect(await dropOld(service)).toBe(0);
  await query(`update mails set state = 'failed' where state = 'queued'`);
  expect(await dropOld(service)).toBe(4);
});

test('hostile names, titles and texts add no header, and what is sent is bounded', async () => {
  const hostile = [
    'x\r\nBcc: v@evil.example',
    '\u2028Bcc: v@evil.example',
    '<script>alert(1)</script>',
    '"a" <v@evil.example>,',
  ];
  await service.seed.put('users', { ...bob, name: hostile.join(' ').slice(0, 120) });
  await query(`update issues set title = $2 where id = $1`, [issue, hostile.join(' ')]);
  await usedUp(reader);
  await told([
    ...hostile,
    '<'.repeat(1_000_000),
    '> '.repeat(400_000),
    '[a](javascript:x) '.repeat(50_000),
    '&'.repeat(1_000_000),
  ]);
  await told(['\u{1f95a}'.repeat(200_000)], { by: carol });
  await start();
  await goes();
  const [mail] = smtp.mails;
  expect(mail!.parsed.headers.has('bcc')).toBe(false);
  expect(mail!.raw.split('\r\n\r\n')[0]).not.toMatch(/^bcc:/im);
  expect([mail!.to, smtp.mails.length]).toEqual([reader.notification_email, 1]);
  expect(mail!.parsed.html).not.toMatch(/<script|href="javascript/i);
  expect(mail!.parsed.text).toContain('9 messages');
  expect(mail!.raw.length).toBeLessThan(150_000);
});
