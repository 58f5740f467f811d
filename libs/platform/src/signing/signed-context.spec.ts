import type { ContextClaims } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import {
  parseContextKeys,
  contextKeysFor,
  ContextRefused,
  contextRequestClaim,
  signContext,
  verifyContext,
} from './signed-context';

const key = (fill: number): string => Buffer.alloc(32, fill).toString('base64');
const NOW = 1_790_000_000_000;
const claims: ContextClaims = {
  sub: 42,
  usr: 'mallory',
  tok: 7,
  scp: ['api', 'read_user'],
  adm: false,
  ext: false,
  bot: false,
  imp: null,
  ver: 123_456,
  epo: '0190c1d2-0000-7000-8000-000000000000',
  aud: 'collaboration',
  req: contextRequestClaim('POST', '/api/v4/projects/a%2Fb/issues/1/notes?x=1'),
  rid: '01J00000000000000000000000',
  iat: NOW,
  ddl: NOW + 10_000,
};
const expected = {
  audience: 'collaboration',
  method: 'POST',
  rawUrl: '/api/v4/projects/a%2Fb/issues/1/notes?x=1',
  now: NOW + 50,
};
const keys = parseContextKeys(`k1:${key(1)}`);
const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return error instanceof ContextRefused ? error.why : (error as Error).name;
  }
  return 'accepted';
};

describe('signed context', () => {
  it('returns the signed claims', () => {
    expect(verifyContext(signContext(claims, keys), expected, keys)).toEqual(claims);
  });

  it('is bound to audience, method and raw url', () => {
    const header = signContext(claims, keys);
    expect(refusal(() => verifyContext(header, { ...expected, audience: 'identity' }, keys))).toBe('signature');
    expect(refusal(() => verifyContext(header, { ...expected, method: 'DELETE' }, keys))).toBe('request');
    const decoded = '/api/v4/projects/a/b/issues/1/notes?x=1';
    expect(refusal(() => verifyContext(header, { ...expected, rawUrl: decoded }, keys))).toBe('request');
  });

  it('refuses any header in which one character differs', () => {
    const header = signContext(claims, keys);
    const accepted: number[] = [];
    for (let at = 0; at < header.length; at += 1) {
      // The last two bits of an unpadded base64url text are unused, so its last character may differ undetected.
      if (at === header.length - 1) continue;
      const forged = `${header.slice(0, at)}${header[at] === 'A' ? 'B' : 'A'}${header.slice(at + 1)}`;
      if (refusal(() => verifyContext(forged, expected, keys)) === 'accepted') accepted.push(at);
    }
    expect(accepted).toEqual([]);
  });

  it.each(['', '.', '..', 'a.b', 'a.b.c', 'e30.k1.', 'e30.__proto__.x', 'e30.k9.AAAA', `${'a'.repeat(20_000)}.k1.x`])(
    'refuses %.20s',
    (header) => {
      expect(['malformed', 'unknown key', 'signature']).toContain(refusal(() => verifyContext(header, expected, keys)));
    },
  );

  it('cannot be forged for another audience by a service that knows its own key', () => {
    const text = contextKeysFor(`k1:${key(1)}, k2:${key(2)}`, 'package');
    const own = parseContextKeys(text);
    expect(text).toMatch(/^k1\/package:[^,]+,k2\/package:[^,]+$/);
    expect(() => signContext(claims, own)).toThrow('no context key for collaboration');
    expect(() => contextKeysFor(text, 'collaboration')).toThrow('key k1 is not a master');
    const asMaster = parseContextKeys(text.replaceAll('/package', ''));
    expect(refusal(() => verifyContext(signContext(claims, asMaster), expected, keys))).toBe('signature');
  });

  it('is verified by a service that has only its own key', () => {
    const own = parseContextKeys(contextKeysFor(`k1:${key(1)}`, 'collaboration'));
    expect(verifyContext(signContext(claims, keys), expected, own)).toEqual(claims);
    expect(refusal(() => verifyContext(signContext({ ...claims, aud: 'admin' }, keys), expected, own))).toBe(
      'signature',
    );
    expect(refusal(() => verifyContext(signContext(claims, keys), { ...expected, audience: 'admin' }, own))).toBe(
      'unknown key',
    );
  });

  it('is valid for 30 s before and after', () => {
    const header = signContext(claims, keys);
    for (const now of [NOW - 30_000, NOW + 30_000]) {
      expect(verifyContext(header, { ...expected, now }, keys).sub).toBe(42);
    }
    for (const now of [NOW - 30_001, NOW + 30_001]) {
      expect(() => verifyContext(header, { ...expected, now }, keys)).toThrow(Unavailable);
    }
  });

  it('rotates keys without a refused request', () => {
    const old = parseContextKeys(`k1:${key(1)}`);
    const added = parseContextKeys(`k1:${key(1)},k2:${key(2)}`);
    const used = parseContextKeys(`k2:${key(2)}, k1:${key(1)}`);
    const done = parseContextKeys(`k2:${key(2)}`);
    for (const [signer, verifier] of [
      [old, added],
      [added, old],
      [added, used],
      [used, added],
      [used, done],
      [done, used],
    ] as const) {
      expect(verifyContext(signContext(claims, signer), expected, verifier).sub).toBe(42);
    }
    expect(refusal(() => verifyContext(signContext(claims, old), expected, done))).toBe('unknown key');
  });

  it.each([
    ['', 'no id'],
    ['abc', 'no id'],
    [`k1:${key(1).slice(8)}`, 'key k1 is not base64'],
    [`k 1:${key(1)}`, 'no id'],
    [`k1:${key(1)},k1:${key(2)}`, 'key id k1 is there twice'],
    [`k1/../x:${key(1)}`, 'no id'],
  ])('does not accept %.12s as keys', (text, problem) => {
    expect(() => parseContextKeys(text)).toThrow(problem);
  });

  it('costs microseconds for each hop', () => {
    const rounds = 5000;
    const batch = (): number => {
      const before = process.cpuUsage();
      for (let index = 0; index < rounds; index += 1) verifyContext(signContext(claims, keys), expected, keys);
      const spent = process.cpuUsage(before);
      return (spent.user + spent.system) / rounds;
    };
    // Other load on the machine makes a batch slower, never faster than its cost.
    let us = Infinity;
    for (const end = Date.now() + 60_000; us >= 60 && Date.now() < end;) us = Math.min(us, batch());
    process.stdout.write(`signed context: sign + verify ${us.toFixed(1)} us a hop\n`);
    expect(us).toBeLessThan(60);
  });
});
