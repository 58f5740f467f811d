import { verifyUnsubscribeLinkKey, createUnsubscribeLinkKey, unsubscribeUrl } from './unsubscribe-key';

const subject = { noteableType: 'Issue', noteableId: 15, userId: 7 };
const [own, former, foreign] = [Buffer.from('own'), Buffer.from('former'), Buffer.from('foreign')];

test('a key identifies its subject, also after a new key took over', () => {
  expect(verifyUnsubscribeLinkKey(createUnsubscribeLinkKey(subject, own), [own, former])).toEqual(subject);
  expect(verifyUnsubscribeLinkKey(createUnsubscribeLinkKey(subject, former), [own, former])).toEqual(subject);
});

test('a forged or malformed key has no subject', () => {
  const key = createUnsubscribeLinkKey(subject, own);
  const mac = key.split('.').at(-1)!;
  for (const text of [
    createUnsubscribeLinkKey(subject, foreign),
    `Issue.15.8.${mac}`,
    `Issue.16.7.${mac}`,
    `Epic.15.7.${mac}`,
    `Issue.015.7.${mac}`,
    `${key}=`,
    key.slice(0, -1),
    mac,
    '',
    'Issue.15.7.',
  ])
    expect([text, verifyUnsubscribeLinkKey(text, [own])]).toEqual([text, null]);
});

test('the URL needs no encoding', () => {
  const url = unsubscribeUrl('https://rookery.example', createUnsubscribeLinkKey(subject, own));
  expect(new URL(url).href).toBe(url);
  expect(url).toMatch(/^https:\/\/rookery\.example\/-\/sent_notifications\/Issue\.15\.7\.[\w-]{43}\/unsubscribe$/);
});
