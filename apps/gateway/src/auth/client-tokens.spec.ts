import { parseContextKeys } from '@rookery/platform';
import { ClientTokens } from './client-tokens';

const keysOf = (byte: number) => parseContextKeys(`k${byte}:${Buffer.alloc(32, byte).toString('base64')}`);
const tokens = new ClientTokens(keysOf(7));
const credential = { kind: 'token', digest: 'a'.repeat(64) } as const;

afterEach(() => jest.restoreAllMocks());

it('stand for their credential for an hour', () => {
  const token = tokens.create(credential);
  expect(tokens.read(token)).toMatchObject(credential);
  const now = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(now + 3_598_000);
  expect(tokens.read(token)).toMatchObject(credential);
  const again = tokens.create(tokens.read(token)!);
  jest.spyOn(Date, 'now').mockReturnValue(now + 3_601_000);
  expect([tokens.read(token), tokens.read(again)]).toEqual([null, null]);
});

it('are read by processes with the same keys, whole and unchanged', () => {
  const token = tokens.create(credential);
  expect(new ClientTokens(keysOf(7)).read(token)).toMatchObject(credential);
  expect(new ClientTokens(keysOf(8)).read(token)).toBeNull();
  for (const forged of [
    ...[token.replace('.token.', '.job.'), token.replace('aaaa', 'bbbb'), token.slice(0, -1), `${token}A`],
    ...[token.replace(/^conan-1/, 'conan-2'), '', 'conan-', 'glpat-abc'],
  ])
    expect([forged, tokens.read(forged)]).toEqual([forged, null]);
});
