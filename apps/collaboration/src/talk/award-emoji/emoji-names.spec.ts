import { emojiNamed } from './emoji-names';

test.each([
  ['thumbsup', 'thumbsup'],
  ['+1', 'thumbsup'],
  ['thumbsdown', 'thumbsdown'],
  ['-1', 'thumbsdown'],
  ['rocket', 'rocket'],
  ['blowfish', 'blowfish'],
  ['slight_smile', 'slight_smile'],
  ['slightly_smiling_face', 'slight_smile'],
  ['thumbsup_tone1', 'thumbsup_tone1'],
  ['100', '100'],
  ['tada', 'tada'],
  ['heart', 'heart'],
  ['eyes', 'eyes'],
])('%s is kept as %s', (name, kept) => expect(emojiNamed(name)).toBe(kept));

test.each(['', ':rocket:', 'Rocket', 'no such thing', 'toString', '__proto__', '\u{1F680}'])('%j is no name', (name) =>
  expect(emojiNamed(name)).toBeUndefined(),
);
