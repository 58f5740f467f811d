import type { ContextClaims } from '@rookery/contracts';
import { parseContextKeys } from '@rookery/platform';
import { CLAIMS } from '../call/api-request';
import type { ApiRequest } from '../call/api-request';
import { verifyViewer } from './request-context';

const KEYS = parseContextKeys(`k:${Buffer.alloc(32, 1).toString('base64')}`);
const NOW = 1_000_000;
const claims: ContextClaims = {
  sub: 7,
  usr: 'wren',
  tok: 3,
  scp: ['api'],
  adm: false,
  ext: false,
  bot: false,
  imp: null,
  ver: 1,
  epo: 'e',
  aud: 'package',
  req: 'GET /api/v4/x?a=b',
  rid: 'r',
  iat: NOW,
  ddl: NOW + 1000,
};
const request: ApiRequest = {
  raw: { method: 'GET', url: '/api/v4/x?a=b' },
  headers: {},
  params: {},
  query: {},
  body: undefined,
  earliestArrival: 0,
};
const verifyPassedClaims = (passed: object, at = NOW) =>
  verifyViewer({ ...request, [CLAIMS]: passed } as ApiRequest, 'package', KEYS, at);

describe('claims of a local call', () => {
  it('name the viewer without a signature, and share no list with the gateway', () => {
    const viewer = verifyPassedClaims(claims);
    expect(viewer).toMatchObject({ userId: 7, username: 'wren', scopes: ['api'], deadline: NOW + 1000 });
    expect(viewer.scopes).not.toBe(claims.scp);
  });

  it.each([
    ['for another service', { aud: 'admin' }, NOW, { code: 'context_refused', why: 'audience' }],
    ['for another request', { req: 'PUT /api/v4/x?a=b' }, NOW, { code: 'context_refused', why: 'request' }],
    ['after the deadline', {}, NOW + 1001, { code: 'unavailable' }],
  ])('are refused %s', (_, over, at, error) => {
    expect(() => verifyPassedClaims({ ...claims, ...over }, at)).toThrow(expect.objectContaining(error));
  });

  it('are not read from anything that the network sends', () => {
    const named = { ...request, headers: { claims: JSON.stringify(claims), 'symbol(claims of a local call)': '{}' } };
    const sent = { ...named, body: { [String(CLAIMS)]: claims }, query: { claims } };
    expect(() => verifyViewer(sent, 'package', KEYS, NOW)).toThrow(expect.objectContaining({ why: 'malformed' }));
  });
});
