import {
  OutageAfterCommit,
  Conflict,
  Forbidden,
  CommitInDoubt,
  InsufficientScope,
  Invalid,
  InvalidParameters,
  MethodNotAllowed,
  NotFound,
  NotModified,
  PartlyRefused,
  PreconditionFailed,
  Refused,
  TokenRefused,
  TooLarge,
  TooManyRequests,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '@rookery/kernel';
import {
  toErrorAfterCommit,
  MalformedBody,
  renderError,
  UnknownRoute,
  UnsupportedMediaType,
  withReasonPhrase,
  WrongVerb,
} from './errors';

const expired = 'Token is expired. You can either do re-authorization or token refresh.';
const scopes = 'The request requires higher privileges than provided by the access token.';

it.each([
  [new NotFound('Project'), 404, { message: '404 Project Not Found' }],
  [new NotFound(), 404, { message: '404 Not found' }],
  [new InvalidParameters(['a is missing', 'b is invalid']), 400, { error: 'a is missing, b is invalid' }],
  [new Invalid({ title: ["can't be blank"] }), 400, { message: { title: ["can't be blank"] } }],
  [new Refused('no'), 400, { message: '400 Bad request - no' }],
  [new Refused(), 400, { message: '400 Bad request' }],
  [new Refused('Failed to save', { verbatim: true }), 400, { message: 'Failed to save' }],
  [new Refused('It stays', { underError: true }), 400, { message: { error: 'It stays' } }],
  [new Refused('It failed', { more: { error_code: 'empty' } }), 400, { message: 'It failed', error_code: 'empty' }],
  [new PartlyRefused({ ada: 'no' }), 400, { status: 'error', message: { ada: 'no' } }],
  [new Unauthorized(), 401, { message: '401 Unauthorized' }],
  [new Unauthorized('blocked'), 401, { message: '401 Unauthorized - blocked' }],
  [new TokenRefused('expired'), 401, { error: 'invalid_token', error_description: expired }],
  [
    new InsufficientScope(['api', 'read_api']),
    403,
    { error: 'insufficient_scope', error_description: scopes, scope: 'api read_api' },
  ],
  [new Forbidden(), 403, { message: '403 Forbidden' }],
  [new Forbidden('why'), 403, { message: '403 Forbidden - why' }],
  [new Forbidden('why', { inError: true }), 403, { error: 'why' }],
  [new MethodNotAllowed(), 405, { message: '405 Method Not Allowed' }],
  [new MethodNotAllowed('Keyset …'), 405, { error: 'Keyset …' }],
  [new Conflict(), 409, { message: '409 Conflict' }],
  [new Conflict('taken'), 409, { message: 'taken' }],
  [new PreconditionFailed(), 412, { message: '412 Precondition Failed' }],
  [new TooLarge(), 413, { message: '413 Request Entity Too Large' }],
  [Object.assign(new Error('x'), { statusCode: 414 }), 414, { message: '414 URI Too Long' }],
  [new Unprocessable(), 422, { message: '422 Unprocessable Entity' }],
  [new Unprocessable({ error: ['x'] }), 422, { message: { error: ['x'] } }],
  [new Unprocessable(['No.']), 422, { message: ['No.'] }],
  [new Unavailable('directory behind'), 503, { message: '503 Service Unavailable' }],
  [new UnknownRoute(), 404, { error: '404 Not Found' }],
  [new WrongVerb(['GET', 'HEAD']), 405, { error: '405 Not Allowed' }],
  [new MalformedBody(), 400, { error: 'message body does not match declared format' }],
  [new UnsupportedMediaType('a/b'), 415, { error: "The provided content-type 'a/b' is not supported." }],
  [Object.assign(new Error('x'), { code: '57014' }), 503, { message: '503 Service Unavailable' }],
  [
    Object.assign(new Error('x'), { driverError: { code: 'ECONNREFUSED' } }),
    503,
    { message: '503 Service Unavailable' },
  ],
  [new Error('Connection terminated unexpectedly'), 503, { message: '503 Service Unavailable' }],
  [new Error('secret detail'), 500, { message: '500 Internal Server Error' }],
  ['thrown text', 500, { message: '500 Internal Server Error' }],
])('renders %p as %i', (error, status, body) => {
  const rendered = renderError(error);
  expect([rendered.status, JSON.parse(rendered.body!)]).toEqual([status, body]);
});

it('sets Retry-After and the headers of rate limits', () => {
  const limit = { name: 'pins', most: 3, each: 'minute', setting: 'PINS_COUNT' } as const;
  const { headers, body } = renderError(new TooManyRequests(7, limit));
  expect(headers).toMatchObject({ 'retry-after': '7', 'ratelimit-name': 'pins', 'ratelimit-limit': '3' });
  expect(Number(headers['ratelimit-reset']) - Date.now() / 1000).toBeLessThan(9);
  expect(JSON.parse(body!)).toEqual({
    message: {
      error:
        'This endpoint has been requested too many times. Try again later. The limit pins is 3 a minute, set by PINS_COUNT.',
    },
  });
  expect(renderError(new TooManyRequests(1, { ...limit, each: 'moment', setting: null })).headers).toEqual({
    'retry-after': '1',
  });
  expect(renderError(new Unavailable('deadline', 3)).headers).toEqual({ 'retry-after': '3' });
});

it('lists the allowed methods, and challenges revoked tokens', () => {
  expect(renderError(new WrongVerb(['GET', 'HEAD'])).headers).toEqual({ allow: 'GET, HEAD' });
  expect(renderError(new TokenRefused('revoked')).headers['www-authenticate']).toContain('error="invalid_token"');
});

it('has no body for 304', () => {
  expect(renderError(new NotModified())).toEqual({ status: 304, headers: {}, body: null });
});

it('logs an unexpected error once, and expected errors not at all', () => {
  const log = { error: jest.fn(), warn: jest.fn() };
  renderError(new NotFound('Project'), log);
  renderError(new Forbidden(), log);
  expect(log.error).not.toHaveBeenCalled();
  renderError(new Error('x'), log);
  expect(log.error).toHaveBeenCalledTimes(1);
});

it('answers a commit in doubt without Retry-After, and logs each with its request id', () => {
  const log = { error: jest.fn(), warn: jest.fn() };
  const outages = { recordOutage: jest.fn() };
  const error = new CommitInDoubt(new Error('Connection terminated unexpectedly'));
  expect(renderError(error, log, outages, 'r1')).toEqual({
    status: 502,
    headers: {},
    body: '{"message":"502 Bad Gateway"}',
  });
  expect(outages.recordOutage).toHaveBeenCalledWith('commit in doubt', { err: error, requestId: 'r1' });
  expect(log.error).toHaveBeenCalledWith({ err: error, requestId: 'r1' }, 'a commit is in doubt');
});

it('answers an outage after a commit without Retry-After, and does not log it as a commit in doubt', () => {
  const log = { error: jest.fn(), warn: jest.fn() };
  const outages = { recordOutage: jest.fn() };
  const lost = toErrorAfterCommit(new Unavailable('database busy'));
  expect(lost).toBeInstanceOf(OutageAfterCommit);
  expect(renderError(lost, log, outages, 'r1')).toEqual({
    status: 502,
    headers: {},
    body: '{"message":"502 Bad Gateway"}',
  });
  expect(outages.recordOutage).toHaveBeenCalledWith('answer lost', { err: lost, requestId: 'r1' });
  expect(log.error).not.toHaveBeenCalled();
  const doubt = new CommitInDoubt(new Error('x'));
  expect(toErrorAfterCommit(doubt)).toBe(doubt);
  const refused = new NotFound('Issue');
  expect(toErrorAfterCommit(refused)).toBe(refused);
});

it('records the reason of each 503, and no other answers', () => {
  const log = { error: jest.fn(), warn: jest.fn() };
  const noted: unknown[] = [];
  const outages = { recordOutage: (reason: string, facts?: object) => void noted.push([reason, facts]) };
  const recorded = (error: Error): unknown => {
    expect(renderError(error, log, outages, 'r1').status).toBe(503);
    return noted.pop();
  };
  const coded = (code: string): Error => Object.assign(new Error(code), { code });
  for (const [error, reason] of [
    [new Unavailable('directory behind'), 'directory behind'],
    [coded('57014'), 'database slow'],
    [coded('53300'), 'database away'],
    [Object.assign(new Error('query failed'), { driverError: coded('57P01') }), 'database away'],
    [new Error('Connection terminated unexpectedly'), 'database away'],
    [coded('ECONNREFUSED'), 'other'],
    [Object.assign(new Error('closing'), { statusCode: 503 }), 'other'],
  ] as const) {
    expect(recorded(error)).toEqual([reason, { err: error, requestId: 'r1' }]);
  }
  for (const error of [new NotFound('Project'), new Forbidden(), new Error('x')]) renderError(error, log, outages);
  expect(noted).toEqual([]);
});

it.each([
  [new Refused('File is too large'), 'File is too large'],
  [new Refused('Validation failed: Version is invalid', { verbatim: true }), 'Validation failed: Version is invalid'],
  [new Forbidden('Package protected.'), 'Package protected.'],
  [new Forbidden(), 'Forbidden'],
  [new NotFound('Project'), 'Project Not Found'],
  [new Unauthorized(), 'Unauthorized'],
  [new InvalidParameters(['name is missing']), 'name is missing'],
  [new InvalidParameters([`a\r\nb: \u00e4`]), 'a??b: ?'],
  [new InvalidParameters(['x'.repeat(300)]), 'x'.repeat(200)],
  [new Invalid({ name: ['is blank'] }), undefined],
])('gives %s the reason phrase %s', (error, reason) => {
  expect(withReasonPhrase(renderError(error)).reason).toBe(reason);
});
