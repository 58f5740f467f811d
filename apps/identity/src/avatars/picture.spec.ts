import { MAX_AVATAR_BYTES, mediaTypeOf, avatarPictureProblems, toSafeAvatarFilename } from './picture';

const fileStartingWith = (head: readonly number[] | string, length = 64): Buffer => {
  const content = Buffer.alloc(length);
  (typeof head === 'string' ? Buffer.from(head, 'latin1') : Buffer.from(head)).copy(content);
  return content;
};
const bitmap = fileStartingWith('BM');
bitmap.writeUInt32LE(40, 14);
const PNG = fileStartingWith([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const UNSUPPORTED = expect.stringMatching(
  /^file format is not supported\. .* image\/png, .* image\/vnd\.microsoft\.icon$/,
);

it.each<[string, Buffer]>([
  ['image/png', PNG],
  ['image/jpeg', fileStartingWith([0xff, 0xd8, 0xff, 0xe0])],
  ['image/gif', fileStartingWith('GIF87a')],
  ['image/gif', fileStartingWith('GIF89a')],
  ['image/bmp', bitmap],
  ['image/tiff', fileStartingWith([0x49, 0x49, 0x2a, 0x00])],
  ['image/tiff', fileStartingWith([0x4d, 0x4d, 0x00, 0x2a])],
  ['image/vnd.microsoft.icon', fileStartingWith([0, 0, 1, 0, 1, 0])],
  ['image/webp', fileStartingWith('RIFF\0\0\0\0WEBPVP8 ')],
])('recognizes %s by its content, ignoring the file name', (mediaType, content) => {
  const picture = { filename: 'x.txt', bytes: content };
  expect(avatarPictureProblems(picture)).toEqual([]);
  expect(mediaTypeOf(picture)).toBe(mediaType);
});

it.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['a text', fileStartingWith('BMW is a text', 32)],
  ['a vector image', fileStartingWith('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
  ['a page', fileStartingWith('<!DOCTYPE html>')],
  ['a cut header', PNG.subarray(0, 7)],
  ['an icon file without icons', fileStartingWith([0, 0, 1, 0, 0, 0])],
  ['a sound', fileStartingWith('RIFF\0\0\0\0WAVEfmt ')],
])('refuses %s, even with the file name of an image', (_, content) => {
  expect(avatarPictureProblems({ filename: 'avatar.png', bytes: content })).toEqual([UNSUPPORTED]);
  expect(() => mediaTypeOf({ filename: 'avatar.png', bytes: content })).toThrow('not checked');
});

it('accepts 200 KiB and not one byte more', () => {
  const full = fileStartingWith([...PNG], MAX_AVATAR_BYTES);
  expect(avatarPictureProblems({ filename: 'a.png', bytes: full })).toEqual([]);
  const more = fileStartingWith([...PNG], MAX_AVATAR_BYTES + 1);
  expect(avatarPictureProblems({ filename: 'a.png', bytes: more })).toEqual(['is too big (should be at most 200 KiB)']);
});

it.each([
  ['avatar.png', 'avatar.png'],
  ['Photo 2.PNG', 'Photo_2.png'],
  ['/etc/../x.png', 'x.png'],
  ['C:\\me\\y.png', 'y.png'],
  ['ä"\r\n<b>.png', '_b_.png'],
  ['a%2Fb?c#d.png', 'a_2Fb_c_d.png'],
  ['page.html', 'page.html.png'],
  ['photo.jpg', 'photo.jpg.png'],
  ['..', 'avatar.png'],
  ['.png', 'avatar.png'],
  ['', 'avatar.png'],
  [`${'x'.repeat(300)}.png`, `${'x'.repeat(100)}.png`],
])('converts the name %j to %s', (filename, name) => {
  expect(toSafeAvatarFilename({ filename, bytes: PNG })).toBe(name);
});
