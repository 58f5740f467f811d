import { createTransport } from 'nodemailer';
import { composeCombined, SHOWN_TEXTS } from './compose-combined';
import type { CombinedMail } from './compose-combined';
import type { MailJob } from './compose-mail';

const identity = {
  externalUrl: 'https://rookery.example',
  from: 'rookery@rookery.example',
  replyTo: 'noreply@rookery.example',
  headerPrefix: 'X-Platform',
  subjectSuffix: '',
  secret: Buffer.from('s'),
  unsubscribeSecret: Buffer.from('u'),
};
const jobOf = (over: Partial<MailJob> = {}): MailJob => ({
  kind: {
    type: 'Issue',
    noun: 'issue',
    word: 'issue',
    shownId: 'iid',
    webPath: '/-/issues/',
    sigil: '#',
    parent: 'project',
  },
  id: 1,
  event_id: '0197a000-0000-7000-8000-000000000001',
  recipient_id: 2,
  template: 'note_created',
  reason: null,
  is_watching: false,
  attempts: 1,
  created_at: new Date(0),
  address: 'ann@mail.example',
  actor_name: 'Bob',
  actor_username: 'bob',
  parent_id: 3,
  parent_name: 'Project',
  parent_path: 'group/project',
  noteable_id: 4,
  shown_id: '5',
  title: 'Title',
  description: 'Description',
  state: 'opened',
  confidential: false,
  note_id: 6,
  note_body: 'Body',
  added: [],
  removed: [],
  labels: [],
  milestone: null,
  commits: null,
  due_on: null,
  ...over,
});
const bob = { actor_name: 'Bob', actor_username: 'bob', count: 2 };
const ann = { actor_name: 'Ann', actor_username: 'ann', count: 1 };
const compose = (over: Partial<CombinedMail> = {}) =>
  composeCombined(
    { newest: [jobOf()], count: 3, authors: [bob, ann], reasons: [null], isWatching: false, ...over },
    '<id@host>',
    identity,
  );
const transport = createTransport({ streamTransport: true, buffer: true });
const sent = async (over: Partial<CombinedMail>) =>
  ((await transport.sendMail(compose(over))).message as unknown as Buffer).toString();

test('a combined e-mail lists changes and notes in chronological order', () => {
  const closed = jobOf({
    template: 'issue_closed',
    note_id: null,
    note_body: null,
    actor_name: 'Ann',
    actor_username: 'ann',
  });
  expect(compose({ newest: [jobOf(), closed], count: 2, authors: [bob, ann] }).text).toBe(
    `2 messages about issue #5: Title

By Bob (@bob): 2, Ann (@ann): 1.
In the order in which they came:

Bob (@bob) commented on issue #5:

Body

Ann (@ann) closed issue #5

-- 
You get this e-mail because you take part in it.
https://rookery.example/group/project/-/issues/5
Unsubscribe from this issue, or see how to change your settings: https://rookery.example/-/sent_notifications/Issue.4.2.2W4mOx-Pt_REdzQdwpihOGK9EHuSIaZEeYpPyXymI1M/unsubscribe
`,
  );
});

test.each([
  [[bob], 'Bob (@bob)'],
  [[bob, ann], 'Bob (@bob) and another'],
  [[bob, ann, ann], 'Bob (@bob) and 2 others'],
])('the sender names the newest author and counts the others', (authors, name) => {
  expect(compose({ authors }).from).toEqual({ name, address: identity.from });
});

test('a user who only watches the place reads so', () => {
  expect(compose({ isWatching: true }).text).toContain('because of your notification settings');
  expect(compose({ isWatching: true, reasons: [null, 'mentioned'] }).text).toContain('because you were mentioned');
  expect(compose({ isWatching: false }).text).toContain('because you take part in it');
});

test('the reason is the strongest one of all messages', () => {
  const mail = compose({ reasons: [null, 'subscribed', 'assigned', 'mentioned'] });
  expect((mail.headers as Record<string, string>)['X-Platform-NotificationReason']).toBe('assigned');
  expect(mail.text).toContain('because you are assigned');
});

test('authors beyond the tenth are counted, not listed', () => {
  const authors = Array.from({ length: 1000 }, (_, index) => ({ ...bob, actor_username: `bob${index}` }));
  const { text } = compose({ authors });
  expect(text).toContain('(@bob9): 2 and 990 more.');
  expect(text).not.toContain('bob10');
});

test.each([
  '<'.repeat(1_000_000),
  '"'.repeat(1_000_000),
  '\u{1f95a}'.repeat(500_000),
  '> '.repeat(500_000),
  '- '.repeat(500_000),
  '[a](http://b.example) '.repeat(50_000),
])('the size of an e-mail is bounded for hostile text (%#)', async (text) => {
  const newest = Array.from({ length: SHOWN_TEXTS }, () => jobOf({ note_body: text, title: text, actor_name: text }));
  const authors = Array.from({ length: 1000 }, () => ({ ...bob, actor_name: text }));
  expect((await sent({ newest, authors, count: 1000 })).length).toBeLessThan(400_000);
});

test.each([
  'a\r\nBcc: v@evil.example',
  'a\u2028Bcc: v@evil.example',
  'a\rBcc: v@evil.example\n\nx',
  '"a" <v@evil.example>, b',
])('the name or title %j adds no header', async (text) => {
  const newest = [jobOf({ actor_name: text, title: text, parent_name: text, parent_path: text, note_body: text })];
  const raw = await sent({ newest, authors: [{ ...bob, actor_name: text }, ann], count: 2 });
  const head = raw.split('\r\n\r\n')[0]!.replace(/\r?\n[ \t]+/g, ' ');
  expect(head).not.toMatch(/^bcc:/im);
  expect(head.match(/^to:.*$/im)![0]).toBe('To: ann@mail.example');
});
