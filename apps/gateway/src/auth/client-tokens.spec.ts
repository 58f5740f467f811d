import { createHmac } from 'node:crypto';
import { SERVICE_NAMES } from '@rookery/contracts';
import { contextKeysFor, parseContextKeys } from '@rookery/platform';
import { ConanClientTokens } from './client-tokens';

const MASTER = `k7:${Buffer.alloc(32, 7).toString('base64')}`;
const contextKeysOf = (byte: number) => parseContextKeys(`k${byte}:${Buffer.alloc(32, byte).toString('base64')}`);
const tokens = new ConanClientTokens(contextKeysOf(7));
const credential = { kind: 'token', digest: 'a'.repeat(64) } as const;
const signToken = (claims: string, key: Buffer): string =>
  `conan-${claims}.${createHmac('sha256', key).update(claims).digest('base64url')}`;

afterEach(() => jest.restoreAllMocks());

it('stand for their credential for an hour', () => {
  const token = tokens.createToken(credential);
  expect(tokens.readToken(token)).toMatchObject(credential);
  const now = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(now + 3_598_000);
  expect(tokens.readToken(token)).toMatchObject(credential);
  const again = tokens.createToken(tokens.readToken(token)!);
  jest.spyOn(Date, 'now').mockReturnValue(now + 3_601_000);
  expect([tokens.readToken(token), tokens.readToken(again)]).toEqual([null, null]);
});

it('are made with a key that no service has', () => {
  const { digest } = credential;
  const expires = Math.floor(Date.now() / 1000) + 60;
  for (const audience of SERVICE_NAMES) {
    const own = parseContextKeys(contextKeysFor(MASTER, audience));
    expect(() => new ConanClientTokens(own)).toThrow(`no context key for ${SERVICE_NAMES.join(', ')}`);
    const [key] = own.deriveKeys('rookery client tokens', audience);
    expect(tokens.readToken(signToken(`${expires}.token.${digest}`, key))).toBeNull();
  }
});

it('are not read when they would last longer than any that was made', () => {
  const [key] = contextKeysOf(7).deriveKeys('rookery client tokens', ...SERVICE_NAMES);
  const lasting = (seconds: number): string =>
    signToken(`${Math.floor(Date.now() / 1000) + seconds}.token.${credential.digest}`, key);
  expect(tokens.readToken(lasting(3600))).toMatchObject(credential);
  expect(tokens.readToken(lasting(3700))).toBeNull();
});

it('are the same for a gateway that has the keys of all services, but no master', () => {
  const held = parseContextKeys(SERVICE_NAMES.map((service) => contextKeysFor(MASTER, service)).join(','));
  expect(new ConanClientTokens(held).readToken(tokens.createToken(credential))).toMatchObject(credential);
});

it('are read by processes with the same keys, whole and unchanged', () => {
  const token = tokens.createToken(credential);
  expect(new ConanClientTokens(contextKeysOf(7)).readToken(token)).toMatchObject(credential);
  expect(new ConanClientTokens(contextKeysOf(8)).readToken(token)).toBeNull();
  for (const forged of [
    ...[token.replace('.token.', '.job.'), token.replace('aaaa', 'bbbb'), token.slice(0, -1), `${token}A`],
    ...[token.replace(/^conan-1/, 'conan-2'), '', 'conan-', 'glpat-abc'],
  ])
    expect([forged, tokens.readToken(forged)]).toEqual([forged, null]);
});
