import { canonicalEmojiName } from './emoji-names';

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
])('the canonical name of %s is %s', (name, canonical) => expect(canonicalEmojiName(name)).toBe(canonical));

test.each(['', ':rocket:', 'Rocket', 'no such thing', 'toString', '__proto__', '\u{1F680}'])(
  '%j is not the name of an emoji',
  (name) => expect(canonicalEmojiName(name)).toBeUndefined(),
);
