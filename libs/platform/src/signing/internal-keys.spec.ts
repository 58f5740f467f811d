import { parseInternalKeys } from './internal-keys';

const key = (fill: number): string => Buffer.alloc(32, fill).toString('base64');
const at = (fill: number): string => `Bearer ${key(fill)}`;

describe('keys of calls between processes', () => {
  const keys = parseInternalKeys(
    `k1/gateway/identity:${key(1)}, k1/import/identity:${key(2)},k1/identity/import:${key(3)}`,
  );

  it('identify the caller to the callee, and to no other process', () => {
    expect(keys.signAuthorization('gateway', 'identity')).toBe(at(1));
    expect(keys.verifyCaller(at(1), 'identity')).toBe('gateway');
    expect(keys.verifyCaller(at(2), 'identity')).toBe('import');
    expect(keys.verifyCaller(at(1), 'import')).toBeNull();
    // A key that identity presents to others is refused at identity itself.
    expect(keys.verifyCaller(at(3), 'identity')).toBeNull();
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', key(1), `bearer ${key(1)}`, at(4), `${at(1)}=`, `${at(1)} `])(
    'know nobody who sends %j',
    (authorization) => {
      expect(keys.verifyCaller(authorization, 'identity')).toBeNull();
    },
  );

  it('name a missing key without any value', () => {
    expect(() => keys.signAuthorization('admin', 'identity')).toThrow(
      'ROOKERY_INTERNAL_KEYS holds no key by which admin may ask identity',
    );
  });

  it('reach beyond a process that is neither caller nor callee of a key', () => {
    expect(keys.reachesBeyond('identity')).toBe(false);
    expect(keys.reachesBeyond('gateway')).toBe(true);
    expect(parseInternalKeys(`k1/gateway/identity:${key(1)}`).reachesBeyond('gateway')).toBe(false);
  });

  it('are rotated without a refusal: two generations are accepted, the first is presented', () => {
    const old = `k1/gateway/identity:${key(1)}`;
    const next = `k2/gateway/identity:${key(2)}`;
    const both = parseInternalKeys(`${old},${next}`);
    const turned = parseInternalKeys(`${next},${old}`);
    const done = parseInternalKeys(next);
    expect(both.verifyCaller(parseInternalKeys(old).signAuthorization('gateway', 'identity'), 'identity')).toBe(
      'gateway',
    );
    expect(both.verifyCaller(turned.signAuthorization('gateway', 'identity'), 'identity')).toBe('gateway');
    expect(turned.verifyCaller(both.signAuthorization('gateway', 'identity'), 'identity')).toBe('gateway');
    expect(done.verifyCaller(turned.signAuthorization('gateway', 'identity'), 'identity')).toBe('gateway');
    expect(done.verifyCaller(parseInternalKeys(old).signAuthorization('gateway', 'identity'), 'identity')).toBeNull();
  });

  it.each([
    ['', 'a key has no name'],
    [`k1:${key(1)}`, 'a key has no name'],
    [`k1/gateway:${key(1)}`, 'a key has no name'],
    ['k1/gateway/identity:c2hvcnQ=', 'key k1/gateway/identity is not base64 of at least 32 bytes'],
    [`k1/gateway/identity:${'*'.repeat(50)}`, 'key k1/gateway/identity is not base64 of at least 32 bytes'],
    [`k1/gateway/identity:${key(1)},k1/gateway/identity:${key(2)}`, 'key k1/gateway/identity is there twice'],
    [
      `k1/gateway/identity:${key(1)},k1/import/identity:${key(1)}`,
      'key k1/import/identity is that of k1/gateway/identity',
    ],
  ])('are refused as %j', (text, problem) => {
    expect(() => parseInternalKeys(text)).toThrow(problem);
  });
});
