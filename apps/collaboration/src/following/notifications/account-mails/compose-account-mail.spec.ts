import { createTransport } from 'nodemailer';
import { composeAccountMail } from './compose-account-mail';

const identity = {
  externalUrl: 'https://rookery.example',
  from: 'rookery@rookery.example',
  replyTo: 'noreply@rookery.example',
  headerPrefix: 'X-Platform',
  subjectSuffix: '',
  secret: Buffer.from('s'),
  unsubscribeSecret: Buffer.from('u'),
};
const facts = {
  address: 'ann@mail.example',
  name: 'Ann',
  link: 'https://rookery.example/users/confirmation?confirmation_token=7.x',
  token: { name: 'deploy', expires_on: '2026-12-01' },
  today: '2026-11-24',
};
const compose = (template: Parameters<typeof composeAccountMail>[0], over: object = {}, suffix = '') =>
  composeAccountMail(template, { ...facts, ...over }, '<id@rookery.example>', { ...identity, subjectSuffix: suffix });
const transport = createTransport({ streamTransport: true, buffer: true });

test.each([
  ['2026-12-01', 'An access token expires in 7 days'],
  ['2026-11-25', 'An access token expires tomorrow'],
  ['2026-11-24', 'An access token has expired'],
  ['2026-11-20', 'An access token has expired'],
])('a token that expires on %s has the subject: %s', (expires_on, subject) => {
  const mail = compose('token_expires', { token: { name: 'deploy', expires_on } });
  expect(mail.subject).toBe(subject);
  expect(mail.text).toContain(`The access token "deploy" ${subject.replace('An access token ', '')} (${expires_on}).`);
});

test('an e-mail about a rotated token names the expiry of the new token, if it has one', () => {
  expect(compose('token_rotated').text).toContain('by a new one, which ends on 2026-12-01.');
  expect(compose('token_rotated', { token: { name: 'x', expires_on: null } }).text).toContain('by a new one. The');
});

test.each([
  [{ kind: 'group', path: 'nest/eggs' }, 'The access token "deploy" of the group nest/eggs expires in 7 days'],
  [
    { kind: 'service account', path: 'robot' },
    'The access token "deploy" of the service account robot expires in 7 days',
  ],
  [null, 'The access token "deploy" expires in 7 days'],
])('the owner %j of a token is in the text, not in the subject', (of, text) => {
  const mail = compose('token_expires', { token: { ...facts.token, of } });
  expect(mail.text).toContain(text);
  expect(mail.subject).toBe('An access token expires in 7 days');
});

test('each subject ends with the suffix of the instance', () => {
  expect(compose('email_confirmation', {}, 'Nest').subject).toBe('Confirm your e-mail address | Nest');
});

test('an e-mail to an unconfirmed address contains no text of a user', async () => {
  const mail = compose('email_confirmation', { name: 'Buy <b>now</b> at http://evil.example' });
  const { message } = await transport.sendMail(mail);
  expect((message as unknown as Buffer).toString()).not.toMatch(/evil|Buy/);
});

/** Hostile names of tokens that try to inject headers or markup. */
test.each([
  'a\r\nBcc: v@evil.example',
  'a\u2028Bcc: v@evil.example',
  '<script>x</script>',
  '\ud800',
  'x'.repeat(300_000),
])('the name %j of a token adds no header and no markup', async (name) => {
  const mail = compose('token_rotated', { name, token: { name, expires_on: '2026-12-01' } });
  const { message } = await transport.sendMail(mail);
  const head = (message as unknown as Buffer).toString().split('\r\n\r\n')[0]!;
  expect(head).not.toMatch(/^bcc:|evil|script/im);
  expect(mail.html).not.toContain('<script');
  expect(String(mail.text).length).toBeLessThan(1000);
});
