import { detectPictureType, sanitizeUploadName } from './upload-name';

it.each([
  ['a.png', 'a.png'],
  ['Ünïcode (1).tar.gz', 'Ünïcode_1_.tar.gz'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\x\\y.txt', 'y.txt'],
  ['a\r\nb"c', 'a_b_c'],
  ['..', 'file'],
  ['', 'file'],
  ['???', 'file'],
  [`${'x'.repeat(300)}.md`, `${'x'.repeat(197)}.md`],
  ['\ud800.txt', '_.txt'],
])('stores %j as %s', (given, stored) => {
  expect(sanitizeUploadName(given)).toBe(stored);
});

it.each([
  ['image/png', Buffer.from('\x89PNG\r\n\x1a\n....', 'latin1')],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ['image/gif', Buffer.from('GIF89a')],
  ['image/webp', Buffer.from('RIFF\n\n\n\nWEBP')],
  [null, Buffer.from('<svg xmlns="')],
  [null, Buffer.from('<!doctype html>')],
  [null, Buffer.from('GIF')],
  [null, Buffer.alloc(0)],
])('recognizes %s', (type, head) => {
  expect(detectPictureType(head)).toBe(type);
});
