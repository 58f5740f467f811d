import {
  anyone,
  created,
  Endpoint,
  endpointsOf,
  file,
  int,
  noContent,
  nullable,
  object,
  one,
  openApiDocument,
  page,
  presenter,
  redirect,
  text,
} from '@rookery/api-v4';
import type { Answer } from '@rookery/api-v4';
import { answerProblem, documentChecker } from './answer-schemas';

class Eggs {
  show(): object {
    return {};
  }
}
const egg = presenter<object>('Egg').fields({
  id: [int, () => 1],
  name: [text, () => 'x', { when: () => false }],
  nest: [nullable(object({ twigs: int }, { mud: int })), () => null, { when: () => false }],
});

/** Problems of an answer by both checkers: that of suites with endpoints, and that of suites with a document. */
function problemsOf(
  answers: Answer<never>,
  seen: { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> },
): (string | null)[] {
  class Made extends Eggs {}
  Endpoint('GET', '/eggs', { about: 'x', source: 'x', may: anyone(), answers, fails: [301, 304, 409] })(
    Made.prototype,
    'show',
    {},
  );
  const [endpoint] = endpointsOf(Made);
  const { status, body, headers = {} } = seen;
  const all = new Headers({ ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers });
  const answer = { status, headers: all, text: typeof body === 'string' ? body : (JSON.stringify(body) ?? '') };
  const check = documentChecker(openApiDocument({ service: 'test', version: '0', endpoints: [endpoint!] }));
  const byDocument = ['/api/v4/eggs', '/api/v4//eggs'].map((path) => check('GET', path, answer));
  return [answerProblem(endpoint!, 'GET', answer), ...byDocument];
}

function expectProblem(problems: readonly (string | null)[], expected: RegExp | null): void {
  for (const said of problems) {
    if (expected === null) expect(said).toBeNull();
    else expect(said).toMatch(expected);
  }
}

it.each([
  ['what is documented', 200, { id: 1, name: 'a' }, null],
  ['without an optional field', 200, { id: 1 }, null],
  ['without a required field', 200, { name: 'a' }, /required property 'id'/],
  ['with another type', 200, { id: '1' }, /answer\/id must be integer/],
  ['with an additional field', 200, { id: 1, colour: 'blue' }, /must NOT have additional properties/],
  ['with all fields of a nullable object', 200, { id: 1, nest: { twigs: 2, mud: 1 } }, null],
  [
    'with an additional field of a nullable object',
    200,
    { id: 1, nest: { twigs: 2, moss: 1 } },
    /nest must NOT have additional/,
  ],
  ['without a required field of a nullable object', 200, { id: 1, nest: {} }, /nest must have required/],
  ['a refusal', 401, { message: '401 Unauthorized' }, null],
  ['a refusal with a field of its own', 401, { reason: 'no' }, /must match a schema in anyOf/],
  ['a refusal with an additional field', 401, { message: 'no', hint: 'x' }, /must NOT have additional properties/],
])('answers %s', (_, status, body, problem) => {
  expectProblem(problemsOf(one(egg) as Answer<never>, { status, body }), problem);
});

const WRITTEN = { 'content-type': 'text/plain' };
it.each([
  ['a list', page(egg), { status: 200, body: [{ id: 1 }], headers: { 'x-page': '1' } }, null],
  [
    'a list with a row that has an additional field',
    page(egg),
    { status: 200, body: [{ id: 1 }, { id: 2, a: 1 }] },
    /answer\/1 must NOT/,
  ],
  ['an object for a list', page(egg), { status: 200, body: { id: 1 } }, /must be array/],
  [
    'a list whose page header is not a number',
    page(egg),
    { status: 200, body: [], headers: { 'x-page': 'a' } },
    /X-Page/,
  ],
  ['another success', created(egg), { status: 200, body: { id: 1 } }, /does not list this status/],
  ['nothing', noContent(), { status: 204 }, null],
  [
    'a body for an empty answer',
    noContent(),
    { status: 204, body: { id: 1 } },
    /its body is application\/json.*lists none/,
  ],
  ['no body for JSON', one(egg), { status: 200 }, /no body/],
  ['text for JSON', one(egg), { status: 200, body: 'egg', headers: WRITTEN }, /text\/plain.*application\/json/],
  ['a file', file('text/plain'), { status: 200, body: 'egg', headers: WRITTEN }, null],
  ['an empty file', file('text/plain'), { status: 200, headers: WRITTEN }, null],
  ['a file of another type', file('image/*'), { status: 200, body: 'egg', headers: WRITTEN }, /lists image/],
  ['a redirect', redirect(), { status: 302, headers: { location: 'http://x' } }, null],
  ['a redirect without Location', redirect(), { status: 302 }, /lacks the header Location/],
  ['unavailable', one(egg), { status: 503, body: { message: 'x' }, headers: { 'retry-after': '1' } }, null],
  ['unavailable without Retry-After', one(egg), { status: 503, body: { message: 'x' } }, /Retry-After/],
  ['a conflict without Retry-After', one(egg), { status: 409, body: { message: 'x' } }, null],
  [
    'a conflict with an invalid Retry-After',
    one(egg),
    { status: 409, body: { message: 'x' }, headers: { 'retry-after': 'soon' } },
    /Retry/,
  ],
] as const)('answers %s', (_, answers, seen, problem) => {
  expectProblem(problemsOf(answers as Answer<never>, seen), problem);
});

it('accepts refusals of unknown operations only in known shapes', () => {
  const check = documentChecker(openApiDocument({ service: 'test', version: '0', endpoints: [] }));
  const headers = new Headers({ 'content-type': 'application/json' });
  const said = (status: number, body: object) =>
    check('GET', '/api/v4/none', { status, headers, text: JSON.stringify(body) });
  expect(said(404, { error: '404 Not Found' })).toBeNull();
  expect(said(404, { error: '404 Not Found', path: '/none' })).toMatch(/must NOT have additional/);
  expect(said(200, {})).toMatch(/does not list this status/);
});

it('finds the operation of a path whose parameter ends a segment', () => {
  const response = { content: { 'text/plain': {} } };
  const paths = { '/api/v4/eggs/nest.{format}': { get: { responses: { 200: response } } } };
  const check = documentChecker({ paths, components: { schemas: { Refusal: { type: 'object' } } } });
  const answer = { status: 200, text: 'x', headers: new Headers({ 'content-type': 'text/plain' }) };
  expect(check('GET', '/api/v4/eggs/nest.tar.gz', answer)).toBeNull();
  expect(check('HEAD', '/api/v4/eggs/nest.zip', { ...answer, text: '' })).toBeNull();
  expect(check('GET', '/api/v4/eggs/nest.', answer)).toMatch(/does not list this status/);
});

it('finds the operation of a path with a wildcard', () => {
  class Wild extends Eggs {}
  const options = { about: 'x', source: 'x', may: anyone(), answers: created(egg) } as const;
  Endpoint('GET', '/nests/*path.zip', options)(Wild.prototype, 'show', {});
  const check = documentChecker(openApiDocument({ service: 'test', version: '0', endpoints: endpointsOf(Wild) }));
  const headers = new Headers({ 'content-type': 'application/json' });
  const problem = (path: string) => check('GET', path, { status: 201, headers, text: '{"id":1}' });
  expect([problem('/api/v4/nests/a/b.zip'), problem('/api/v4/nests/a.zip')]).toEqual([null, null]);
  expect(problem('/api/v4/nests/a/b')).toMatch(/does not list this status/);
});
