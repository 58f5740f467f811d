import { randomUUID } from 'node:crypto';
import type { PrivateNats, SeededService, SeededUser } from '@rookery/testing';
import { startNats, until } from '@rookery/testing';
import type { DirectoryProject } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { NoteableKinds } from '../../src/base/noteables/noteable-kinds';
import { CHECK_VALID_MS } from '../../src/following/notifications/mailer/due-mail-checker';
import { Mailer } from '../../src/following/notifications/mailer/mailer';
import { NoteableMailEnqueuer } from '../../src/following/notifications/noteable-mail-enqueuer';
import type { Notice } from '../../src/following/notifications/noteable-mail-enqueuer';
import { startCollaboration } from '../support/app';
import { startMailServer } from '../support/mail-server';
import type { MailServer } from '../support/mail-server';
import { deleteOldRows } from '../support/old-rows';
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
const insertReturningId = async (sql: string, values: readonly unknown[]): Promise<number> =>
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
    insertReturningId(`insert into issues (project_id, iid, author_id, title) values ($1, $2, $3, $4)`, [
      project.id,
      iid,
      bob.id,
      title,
    ]);
  issue = await opened(1, 'Title');
  other = await opened(2, 'Other');
  const { id: groupId } = await service.seed.group({ plan: 'premium' });
  epic = await insertReturningId(
    `insert into epics (group_id, iid, author_id, title, color, text_color) values ($1, 1, $2, 'Goal', '#fff', '#000')`,
    [groupId, bob.id],
  );
  smtp = await startMailServer();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await smtp.stop();
});

/** One minute per e-mail: nothing is sent until the test makes it due. */
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
interface DigestNote {
  readonly by?: SeededUser;
  readonly on?: { readonly type: string; readonly id: number };
  readonly to?: SeededUser;
  readonly reason?: string;
}
/** Inserts notes, and a queued e-mail for each. */
const queueNotes = async (
  texts: readonly string[],
  { by = bob, on, to = reader, reason }: DigestNote = {},
): Promise<void> => {
  const { type, id } = on ?? { type: 'Issue', id: issue };
  await query(
    `with written as (
       insert into notes (noteable_type, noteable_id, project_id, author_id, body, created_at, updated_at)
       select $1, $2, case when $1 = 'Issue' then $3::bigint end, $4, body, now(), now()
       from unnest($5::text[]) with ordinality as t (body, number) order by number returning id)
     insert into mails (source_event_id, recipient_id, template, actor_id, project_id, noteable_type, noteable_id, note_id, reason)
     select gen_random_uuid(), $6, 'note_created', $4, case when $1 = 'Issue' then $3::bigint end, $1, $2, id, $7
     from written order by id`,
    [type, id, project.id, by.id, texts, to.id, reason ?? null],
  );
};
const many = (count: number, word = 'word') => Array.from({ length: count }, (_, index) => `${word} ${index + 1}`);
/** Uses up the allowances of these users. */
const useUpAllowance = (...people: readonly SeededUser[]) =>
  query(`insert into mail_allowances (recipient_id, tokens, refilled_at) select unnest($1::bigint[]), 0, now()`, [
    people.map((one) => one.id),
  ]);
const waitUntilAllPostponed = () =>
  until(
    async () =>
      (await query(`select 1 from mails where state = 'queued' and next_attempt_at <= now() limit 1`)).length === 0,
    'all postponed',
  );
/** Makes the postponed e-mails due. */
const makeMailsDue = async () => {
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
const waitUntilNoneQueued = () => until(async () => (await states())['queued'] === undefined, 'an empty queue');
const sendAll = async () => {
  await waitUntilAllPostponed();
  await makeMailsDue();
  await waitUntilNoneQueued();
};

test('700 notes of one thread are one e-mail: the number, authors, newest notes, one link, in the thread', async () => {
  await useUpAllowance(reader);
  await queueNotes(many(300));
  await queueNotes(many(400, 'answer'), { by: carol, reason: 'mentioned' });
  await start();
  await sendAll();
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
  expect(text.match(/https?:\S+/g)).toEqual([
    expect.stringMatching(new RegExp(`/issues/1#note_${mail!.newest}$`)),
    expect.stringMatching(/\/sent_notifications\/\S+\/unsubscribe$/),
  ]);
  const [row] = await query<{ count: number }>(
    `select count(*)::int from mails where state = 'gathered' and gathered_into = $1`,
    [mail!.id],
  );
  expect(row!.count).toBe(700);
});

test('each issue and epic has its own e-mail, and a recipient with an allowance gets each note', async () => {
  const free = await service.seed.user();
  await useUpAllowance(reader);
  await queueNotes(many(3));
  await queueNotes(many(2), { on: { type: 'Issue', id: other } });
  await queueNotes(many(4), { on: { type: 'Epic', id: epic } });
  await queueNotes(many(2), { to: free });
  await start();
  await sendAll();
  const mailsOf = (person: SeededUser) =>
    smtp.mails.filter((mail) => mail.to === person.notification_email).map((mail) => mail.parsed.text!.split(':')[0]);
  expect(mailsOf(reader).sort()).toEqual([
    '2 messages about issue #2',
    '3 messages about issue #1',
    '4 messages about epic &1',
  ]);
  expect(mailsOf(free)).toHaveLength(2);
  const thread = smtp.mails.find((mail) => mail.parsed.text!.includes('epic'))!.parsed;
  expect([thread.references, thread.text]).toEqual([
    `<epic_${epic}@localhost>`,
    expect.stringContaining('/-/epics/1#'),
  ]);
  expect(await states()).toEqual({ gathered: 9, sent: 5 });
});

test('a single postponed e-mail is sent as an ordinary one', async () => {
  await useUpAllowance(reader);
  await queueNotes(['alone']);
  await start();
  await sendAll();
  expect(smtp.mails[0]!.parsed.messageId).toMatch(/^<note_\d+\.[0-9a-f]{20}@localhost>$/);
  expect(await states()).toEqual({ sent: 1 });
});

test('send times are assigned in advance, one per thread, and later notes join', async () => {
  await useUpAllowance(reader);
  await queueNotes(many(2));
  await queueNotes(many(2), { on: { type: 'Issue', id: other } });
  await start();
  await waitUntilAllPostponed();
  await queueNotes(many(3, 'later'));
  await workers[0]!.stop();
  workers.length = 0;
  await start();
  await waitUntilAllPostponed();
  const turns = await query<{ noteable_id: number; count: number; minute: number }>(
    `select noteable_id, count(*)::int, round(extract(epoch from allowed_at - now()) / 60)::int as minute from mails
     where attempts = 0 group by noteable_id, allowed_at order by allowed_at`,
  );
  expect(turns).toEqual([
    { noteable_id: issue, count: 5, minute: 1 },
    { noteable_id: other, count: 2, minute: 2 },
  ]);
});

test('an e-mail contains at most a thousand notes; the rest has its own send time', async () => {
  await useUpAllowance(reader);
  await queueNotes(many(2300));
  await start();
  await waitUntilAllPostponed();
  const turns = await query<{ count: number }>(
    `select count(*)::int from mails where state = 'queued' group by allowed_at order by allowed_at`,
  );
  expect(turns.map((turn) => turn.count)).toEqual([1000, 1000, 300]);
  await sendAll();
  expect(smtp.mails.map((mail) => parseInt(mail.parsed.text!, 10)).sort()).toEqual([1000, 1000, 300].sort());
});

describe('rechecked contents', () => {
  /** Claims the e-mail while the only connection is busy with another one, and makes the change before it is sent. */
  async function changedBefore(change: () => Promise<unknown>): Promise<void> {
    let answer: (value: null) => void = () => undefined;
    let stalled = 0;
    smtp.answer = (stage) =>
      stage === 'data' && stalled++ === 0 ? new Promise<null>((resolve) => (answer = resolve)) : null;
    await useUpAllowance(reader);
    await queueNotes(['first word', 'second word', 'third word']);
    await queueNotes(['fourth word'], { by: carol });
    const first = await start({ MAILER_CONNECTIONS_COUNT: '1' });
    await waitUntilAllPostponed();
    await first.stop();
    workers.length = 0;
    const busy = await service.seed.user();
    await queueNotes(['for the busy'], { on: { type: 'Issue', id: other }, to: busy });
    await makeMailsDue();
    await start({ MAILER_CONNECTIONS_COUNT: '1' });
    await until(() => stalled === 1, 'the first message');
    await until(async () => (await states())['gathered'] === 4, 'all gathered');
    await change();
    setTimeout(() => answer(null), 2 * CHECK_VALID_MS);
    await waitUntilNoneQueued();
  }
  const mine = () => smtp.mails.filter((mail) => mail.to === reader.notification_email).map((mail) => mail.parsed);

  test.each([
    ['an internal note', `update notes set internal = true where body = 'fourth word' and noteable_id = $1`],
    ['a deleted note', `delete from notes where body = 'fourth word' and noteable_id = $1`],
  ])('%s is neither shown nor counted, and its author is not named', async (_, sql) => {
    await changedBefore(() => query(sql, [issue]));
    const [mail] = mine();
    expect(mail!.text).toContain('3 messages about issue #1');
    expect(mail!.text).not.toContain('fourth');
    expect(`${mail!.text} ${mail!.from!.text}`).not.toContain(carol.username);
    expect(await states()).toEqual({ dropped: 1, gathered: 3, sent: 2 });
  });

  test('a single remaining note is sent as an ordinary e-mail', async () => {
    await changedBefore(() =>
      query(`update notes set internal = true where body <> 'first word' and noteable_id = $1`, [issue]),
    );
    expect(mine()[0]!.text).toContain(`commented on issue #1: Title\n\nfirst word`);
    expect(await states()).toEqual({ dropped: 3, gathered: 1, sent: 2 });
  });

  test('without remaining notes no e-mail is sent', async () => {
    await changedBefore(() => query(`update issues set confidential = true where id = $1`, [issue]));
    expect(mine()).toEqual([]);
    expect(await states()).toEqual({ dropped: 5, sent: 1 });
  });

  test('a user who can no longer read the project gets none', async () => {
    await changedBefore(() => service.seed.put('projects', { ...project, visibility: 'private' }));
    expect(mine()).toEqual([]);
    expect((await states())['dropped']).toBe(5);
  });

  test('a stale copy of the directory sends none', async () => {
    const refreshed = (at: string) => query(`update directory_state set refreshed_at = ${at}`);
    let sentWhileStale: Promise<number> | undefined;
    await changedBefore(async () => {
      await refreshed(`now() - interval '1 hour'`);
      const waits = () => workers[0]!.logs.some((line) => `${line['msg'] as string}`.startsWith('an e-mail waits'));
      sentWhileStale = until(() => waits() || mine().length > 0, 'a decision').then(async () => {
        const sent = mine().length;
        await refreshed(`'infinity'`);
        return sent;
      });
    });
    expect(await sentWhileStale).toBe(0);
    expect(mine()).toHaveLength(1);
    expect(await states()).toEqual({ gathered: 4, sent: 2 });
  });

  test('a changed address is used', async () => {
    const address = `new-${reader.notification_email}`;
    await changedBefore(() => service.seed.put('users', { ...reader, notification_email: address }));
    expect(mine()).toEqual([]);
    expect(smtp.mails.filter((mail) => mail.to === address)).toHaveLength(1);
    expect(await states()).toEqual({ gathered: 4, sent: 2 });
  });

  test('a user whose address is now a list of addresses gets none, and neither do these addresses', async () => {
    const list = `new-${reader.notification_email}, another-${reader.notification_email}`;
    await changedBefore(() => service.seed.put('users', { ...reader, notification_email: list }));
    expect(smtp.mails).toHaveLength(1);
    expect(await states()).toEqual({ failed: 1, gathered: 4, sent: 1 });
  });
});

describe('retries', () => {
  test('after a crash after the answer of the server: the same e-mail, and later notes in another one', async () => {
    await useUpAllowance(reader);
    await queueNotes(many(4));
    const killed = await start();
    await sendAll();
    await killed.stop();
    workers.length = 0;
    // The state left by a process that was killed before it stored the answer of the server, after the lease.
    await query(
      `update mails set state = 'queued', sent_at = null, message_id = null, next_attempt_at = now() where state = 'sent'`,
    );
    await queueNotes(many(2, 'meanwhile'));
    await start();
    await sendAll();
    const [first, again, next] = smtp.mails.map((mail) => mail.parsed);
    expect([again!.messageId, again!.text]).toEqual([first!.messageId, first!.text]);
    expect(next!.messageId).not.toBe(first!.messageId);
    expect(next!.text).toContain('2 messages');
    expect(smtp.mails).toHaveLength(3);
    expect(await states()).toEqual({ gathered: 6, sent: 2 });
  });

  test('after a temporary refusal: the same e-mail with the same Message-ID', async () => {
    const tries: number[] = [];
    smtp.answer = (stage) => (stage === 'rcpt' && tries.push(1) < 3 ? { code: 451, text: 'later' } : null);
    await useUpAllowance(reader);
    await queueNotes(many(3));
    await start();
    await sendAll();
    expect(tries).toHaveLength(3);
    expect(smtp.mails.map((mail) => parseInt(mail.parsed.text!, 10))).toEqual([3]);
    const [mail] = await query<{ attempts: number }>(`select attempts from mails where state = 'sent'`);
    expect(mail!.attempts).toBe(3);
  });

  test('a final refusal ends the e-mail with all gathered notes', async () => {
    smtp.answer = () => ({ code: 550, text: 'no such user' });
    await useUpAllowance(reader);
    await queueNotes(many(3));
    await start();
    await sendAll();
    expect(await states()).toEqual({ failed: 1, gathered: 3 });
  });

  test('an e-mail that was tried individually is retried individually, while others of its thread are gathered', async () => {
    await useUpAllowance(reader);
    await queueNotes(many(3));
    // The state of an e-mail that the server may have accepted, without a known answer.
    await query(`update mails set claim = gen_random_uuid(), attempts = 1, allowed_at = now(),
       next_attempt_at = now() + interval '1 hour' where id = (select min(id) from mails)`);
    await start();
    await waitUntilAllPostponed();
    await makeMailsDue();
    await until(() => smtp.mails.length === 1, 'the e-mail of the others');
    await until(async () => (await states())['sent'] === 1, 'its end');
    expect(await states()).toEqual({ gathered: 2, queued: 1, sent: 1 });
    await query(`update mails set next_attempt_at = now() where state = 'queued'`);
    await waitUntilNoneQueued();
    expect(smtp.mails.map((mail) => mail.parsed.messageId!.startsWith('<note_'))).toEqual([false, true]);
    expect(await states()).toEqual({ gathered: 2, sent: 2 });
  });

  test('two processes send one e-mail', async () => {
    await useUpAllowance(reader);
    await queueNotes(many(500));
    await Promise.all([start(), start()]);
    await sendAll();
    expect(smtp.mails).toHaveLength(1);
    expect(await states()).toEqual({ gathered: 500, sent: 1 });
  });
});

test('gathered rows are kept while their e-mail waits, however old', async () => {
  await useUpAllowance(reader);
  await queueNotes(many(3));
  smtp.answer = () => ({ code: 450, text: 'full' });
  const worker = await start();
  await waitUntilAllPostponed();
  await makeMailsDue();
  await until(async () => (await states())['gathered'] === 3, 'one of three');
  await worker.stop();
  workers.length = 0;
  await query(`update mails set created_at = now() - interval '31 days'`);
  expect(await deleteOldRows(service)).toBe(0);
  await query(`update mails set state = 'failed' where state = 'queued'`);
  expect(await deleteOldRows(service)).toBe(4);
});

test('hostile names, titles and texts add no header, and the size of the e-mail is bounded', async () => {
  const hostile = [
    'x\r\nBcc: v@evil.example',
    '\u2028Bcc: v@evil.example',
    '<script>alert(1)</script>',
    '"a" <v@evil.example>,',
  ];
  await service.seed.put('users', { ...bob, name: hostile.join(' ').slice(0, 120) });
  await query(`update issues set title = $2 where id = $1`, [issue, hostile.join(' ')]);
  await useUpAllowance(reader);
  await queueNotes([
    ...hostile,
    '<'.repeat(1_000_000),
    '> '.repeat(400_000),
    '[a](javascript:x) '.repeat(50_000),
    '&'.repeat(1_000_000),
  ]);
  await queueNotes(['\u{1f95a}'.repeat(200_000)], { by: carol });
  await start();
  await sendAll();
  const [mail] = smtp.mails;
  expect(mail!.parsed.headers.has('bcc')).toBe(false);
  expect(mail!.raw.split('\r\n\r\n')[0]).not.toMatch(/^bcc:/im);
  expect([mail!.to, smtp.mails.length]).toEqual([reader.notification_email, 1]);
  expect(mail!.parsed.html).not.toMatch(/<script|href="javascript/i);
  expect(mail!.parsed.text).toContain('9 messages');
  expect(mail!.raw.length).toBeLessThan(150_000);
});

describe('many queued in one batch', () => {
  /** A worker whose mailer is stopped. */
  let queueing: Worker;
  beforeAll(async () => {
    queueing = await startWorker({ databaseUrl: service.databaseUrl, nats });
    await queueing.get(Mailer).stop(0);
  });
  afterAll(() => queueing.stop());

  /** Queues e-mails as the consumer does for many events in one batch. */
  async function queued(notices: readonly Partial<Notice>[]): Promise<void> {
    const common = { template: 'note_created', actorId: bob.id, noteableId: issue, noteId: null } as const;
    const all = notices.map((one) => ({ eventId: randomUUID(), ...common, isForParticipants: false, to: [], ...one }));
    const kind = queueing.get(NoteableKinds).kindOfType('Issue')!;
    await queueing.get(Work).run((tx) => queueing.get(NoteableMailEnqueuer).queueMails(tx, kind, all));
  }
  /** Inserts comments on the issue. Returns their ids in order. */
  const notes = async (count: number, by = bob): Promise<number[]> =>
    (
      await query<{ id: number }>(
        `insert into notes (noteable_type, noteable_id, project_id, author_id, body, created_at, updated_at)
         select 'Issue', $1, $2, $3, 'word ' || number, now(), now() from generate_series(1, $4::integer) number
         order by number returning id`,
        [issue, project.id, by.id, count],
      )
    ).map((row) => row.id);
  const addParticipants = (...people: readonly SeededUser[]) =>
    query(
      `insert into participants (noteable_type, noteable_id, user_id, project_id)
       select 'Issue', $1, person, $2 from unnest($3::bigint[]) person`,
      [issue, project.id, people.map((one) => one.id)],
    );
  const rowsOf = (person: SeededUser) =>
    query<{ note_id: number; note_ids: number[] | null; reason: string | null; template: string }>(
      'select note_id, note_ids, reason, template from mails where recipient_id = $1 order by id',
      [person.id],
    );
  const all = (ids: readonly number[], o: Partial<Notice> = {}) =>
    ids.map((noteId) => ({ noteId, isForParticipants: true, ...o }));

  test('a recipient without allowance gets one row for all notes, and each note is sent once', async () => {
    await addParticipants(reader, carol);
    await useUpAllowance(reader);
    const ids = await notes(9);
    await queued(all(ids));
    expect(await rowsOf(reader)).toEqual([{ note_id: ids[8], note_ids: ids, reason: null, template: 'note_created' }]);
    expect(await rowsOf(carol)).toEqual(
      ids.map((id) => ({ note_id: id, note_ids: null, reason: null, template: 'note_created' })),
    );
    expect(await rowsOf(bob)).toEqual([]);
    await start();
    await sendAll();
    const [mail] = smtp.mails.filter((one) => one.to === reader.notification_email);
    expect(mail!.parsed.text).toContain('9 messages about issue #1: Title');
    expect(mail!.parsed.text).toContain(`By ${bob.name} (@${bob.username}): 9.`);
    expect(mail!.parsed.text!.match(/word \d+/g)).toEqual(['word 5', 'word 6', 'word 7', 'word 8', 'word 9']);
    expect(smtp.mails).toHaveLength(10);
    expect(await states()).toEqual({ sent: 10 });
  });

  test('notes within the allowance, less the queued ones, have their own rows, and mentions have separate rows', async () => {
    await addParticipants(reader);
    await query('insert into mail_allowances (recipient_id, tokens, refilled_at) values ($1, 4, now())', [reader.id]);
    await queueNotes(['before']);
    const ids = await notes(8);
    const named = { to: [{ userId: reader.id, reason: 'mentioned' }] } as const;
    await queued([...all(ids.slice(0, 6)), ...all(ids.slice(6), named)]);
    expect((await rowsOf(reader)).slice(1).map((row) => [row.reason, row.note_ids ?? row.note_id])).toEqual([
      [null, ids[0]],
      [null, ids[1]],
      [null, ids[2]],
      [null, ids.slice(3, 6)],
      ['mentioned', ids.slice(6)],
    ]);
  });

  test('each recipient gets only their own notes, however many are queued together', async () => {
    await addParticipants(carol);
    const [first, second, third] = await notes(3);
    await queued([
      { noteId: first!, to: [{ userId: reader.id, reason: 'mentioned' }] },
      {
        noteId: second!,
        to: [
          { userId: carol.id, reason: 'assigned' },
          { userId: carol.id, reason: 'mentioned' },
        ],
      },
      { noteId: third!, isForParticipants: true },
    ]);
    expect((await rowsOf(reader)).map((row) => [row.note_id, row.reason])).toEqual([[first, 'mentioned']]);
    expect((await rowsOf(carol)).map((row) => [row.note_id, row.reason])).toEqual([
      [second, 'assigned'],
      [third, null],
    ]);
  });

  test('an internal note is in no row of a recipient who cannot read it', async () => {
    const nonMember = await service.seed.user();
    await addParticipants(reader, nonMember);
    await useUpAllowance(reader, nonMember);
    await service.seed.member(reader, project, 'reporter');
    const ids = await notes(4);
    await query('update notes set internal = true where id = $1', [ids[1]]);
    await queued(all(ids));
    expect((await rowsOf(reader))[0]!.note_ids).toEqual(ids);
    expect((await rowsOf(nonMember))[0]!.note_ids).toEqual([ids[0], ids[2], ids[3]]);
  });

  test('rows with several and with one note become one e-mail without notes that are now hidden', async () => {
    await addParticipants(reader);
    await useUpAllowance(reader);
    // The author of the issue gets no e-mails.
    await service.seed.put('users', { ...bob, notification_email: null });
    const ids = await notes(6);
    await queued(all(ids));
    const more = await notes(3, carol);
    await queued(all(more, { actorId: carol.id }));
    await queueNotes(['alone'], { by: carol });
    await start();
    await waitUntilAllPostponed();
    await query('delete from notes where id = $1', [ids[0]]);
    await query('update notes set internal = true where id = any($1::bigint[])', [more]);
    await sendAll();
    const [mail, none] = smtp.mails.filter((one) => one.to === reader.notification_email);
    expect(none).toBeUndefined();
    expect(mail!.parsed.text).toContain('6 messages about issue #1');
    expect(mail!.parsed.text).toContain(`By ${bob.name} (@${bob.username}): 5, ${carol.name} (@${carol.username}): 1.`);
    // The row whose notes are all internal by now is dropped.
    expect(await states()).toEqual({ dropped: 1, gathered: 2, sent: 1 });
  });

  test('a row with only hidden notes sends no e-mail, and one remaining note is an ordinary e-mail', async () => {
    await addParticipants(reader, carol);
    await useUpAllowance(reader, carol);
    const ids = await notes(3);
    await queued(all(ids));
    await service.seed.put('users', { ...carol, state: 'blocked' });
    await query('delete from notes where id = any($1::bigint[])', [ids.slice(1)]);
    await start();
    await sendAll();
    expect(smtp.mails.map((mail) => mail.parsed.text!.split('\n\n').slice(0, 2))).toEqual([
      [`${bob.name} (@${bob.username}) commented on issue #1: Title`, 'word 1'],
    ]);
    expect(await states()).toEqual({ dropped: 1, sent: 1 });
  });

  test('an e-mail contains at most a thousand notes, also from rows with several', async () => {
    await addParticipants(reader);
    await useUpAllowance(reader);
    for (let batch = 0; batch < 5; batch += 1) await queued(all(await notes(300)));
    await start();
    await waitUntilAllPostponed();
    const turns = await query<{ count: number }>(
      `select sum(cardinality(note_ids))::int as count from mails group by allowed_at order by allowed_at`,
    );
    expect(turns.map((turn) => turn.count)).toEqual([900, 600]);
  });
});
