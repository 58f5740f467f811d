import { createLogger } from './logger';
import type { Logger } from './logger';
import { redactText } from './redact';

/** A fake secret, which must never reach the stream. */
const CANARY = 'c4n4ryc4n4ryc4n4ry42';

describe('redaction', () => {
  const lines: string[] = [];
  let log: Logger;
  beforeEach(() => {
    lines.length = 0;
    log = createLogger({ service: 'test', level: 'debug' }, { write: (line: string) => void lines.push(line) });
  });
  const written = (): string => lines.join('');

  it.each([
    'password',
    'new_password',
    'token',
    'access_token',
    'PRIVATE-TOKEN',
    'jobToken',
    'tokens',
    'authorization',
    'Cookie',
    'set-cookie',
    'client_secret',
    'internalKeys',
    'api_key',
    'contextKeys',
    'x-rookery-context',
    'credentials',
  ])('hides the value of the key %s at any depth', (key) => {
    log.info({ [key]: CANARY, deep: { list: [{ [key]: { inner: CANARY } }] } }, 'seeded');
    log.child({ [key]: CANARY }).info({ headers: { [key]: [CANARY] } });
    expect(lines).toHaveLength(2);
    expect(written()).not.toContain(CANARY);
    expect(written()).toContain('[redacted]');
  });

  it.each([
    `glpat-${CANARY}`,
    `glptt-${CANARY}.01.ab`,
    `ghp_${CANARY}`,
    `Bearer ${CANARY}`,
    `authorization: basic ${CANARY}==`,
    `postgres://rookery:${CANARY}@db:5432/x`,
    `redis://${CANARY}@cache`,
    `GET /api/v4/user?private_token=${CANARY}&x=1`,
    `/x?a=1&access_token=${CANARY}`,
    `eyJzdWIiOjF9eyJ.k1.${CANARY}`,
    `conan-1796000000.token.${'a1'.repeat(32)}.${CANARY}-_${CANARY.slice(0, 1).repeat(21)}`,
    `conan-1796000000.job.${'a1'.repeat(32)}.${'A'.repeat(23)}${CANARY}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${CANARY}\n-----END RSA PRIVATE KEY-----`,
  ])('hides the token pattern %s anywhere', (text) => {
    log.info({ field: text, deep: { list: [`before ${text} after`] } }, `said ${text}`);
    log.warn(text);
    log.error({ err: new Error(text, { cause: new Error(text) }) }, 'failed');
    log.child({ note: text }).info('bound');
    expect(lines).toHaveLength(4);
    expect(written()).not.toContain(CANARY);
  });

  it('does not redact other values', () => {
    log.info({ token_id: 7, tokenId: 7, scopes: ['api'], keys: 3, url: 'https://host/@scope/pkg' }, 'token revoked');
    expect(JSON.parse(written())).toMatchObject({
      level: 'info',
      service: 'test',
      token_id: 7,
      tokenId: 7,
      scopes: ['api'],
      url: 'https://host/@scope/pkg',
      msg: 'token revoked',
    });
  });

  it('writes one line for any text of a client', () => {
    log.info({ path: 'a\r\n{"level":"error"}\u2028\u0000\u001b[31m' }, 'one\n{"level":"error","msg":"forged"}');
    log.child({ requestId: 'x\n{"level":"error"}' }).info(`Bearer ${CANARY}\n{"level":"error"}`);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(JSON.parse(line)).toMatchObject({ level: 'info' });
      expect(line.includes(String.fromCharCode(27))).toBe(false);
    }
  });

  it('handles circular objects and long hostile lines', () => {
    const circle: Record<string, unknown> = { token: CANARY };
    circle['self'] = circle;
    log.info(circle);
    expect(written()).not.toContain(CANARY);
    // CPU time of this process, since on a busy machine the clock shows more.
    const before = process.cpuUsage();
    for (const piece of [
      'a',
      'eyJ-',
      'eyJ',
      'a:',
      'http://',
      '?a_',
      'glx-',
      'Bearer ',
      '-----BEGIN ',
      'conan-1',
      'conan-1796000000.job.a',
    ]) {
      redactText(piece.repeat(200_000));
    }
    expect(process.cpuUsage(before).user / 1_000_000).toBeLessThan(30);
  });
});
