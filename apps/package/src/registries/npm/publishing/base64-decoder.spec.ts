import { Base64Decoder } from './base64-decoder';

/** Decodes a text in pieces of a size. */
function decodeInPieces(text: string, size = text.length || 1): string {
  const decoder = new Base64Decoder();
  const parts: Buffer[] = [];
  for (let at = 0; at < text.length; at += size) parts.push(decoder.write(text.slice(at, at + size)));
  return Buffer.concat([...parts, decoder.end()]).toString();
}

it.each(['', 'a', 'ab', 'abc', 'abcd', 'é'.repeat(50)])('decodes %j in pieces of any size', (text) => {
  const base64 = Buffer.from(text).toString('base64');
  for (const size of [1, 2, 3, 5, 1000]) {
    expect(decodeInPieces(base64, size)).toBe(text);
    expect(decodeInPieces(base64.replaceAll('=', ''), size)).toBe(text);
    expect(decodeInPieces(base64.replaceAll(/(.{2})/g, '$1\r\n '), size)).toBe(text);
  }
});

it.each(['YQ==YQ==', 'YQ==YQ', 'YQ===', 'Y', 'YWJjZ', 'Y$==', '=YQ=', 'YWJj=', 'YW-j'])('refuses %s', (text) => {
  for (const size of [1, 2, 1000])
    expect(() => decodeInPieces(text, size)).toThrow('Attachment data is not valid base64.');
});
