import {
  anyone,
  created,
  Endpoint,
  endpointsOf,
  file,
  int,
  none,
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
import { answerProblem, documentJudge } from './answer-schemas';

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

/** What both judges say of an answer: that of suites with endpoints, and that of suites with a document. */
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
  const told = new Headers({ ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers });
  const answer = { status, headers: told, text: typeof body === 'string' ? body : (JSON.stringify(body) ?? '') };
  const judge = documentJudge(openApiDocument({ service: 'test', version: '0', endpoints: [endpoint!] }));
  const byDocument = ['/api/v4/eggs', '/api/v4//eggs'].map((path) => judge('GET', path, answer));
  return [answerProblem(endpoint!, 'GET', answer), ...byDocument];
}

function expectProblem(found: readonly (string | null)[], problem: RegExp | null): void {
  for (const said of found) {
    if (problem === null) expect(said).toBeNull();
    else expect(said).toMatch(problem);
  }
}

it.each([
  ['what is documented', 200, { id: 1, name: 'a' }, null],
  ['without what may be absent', 200, { id: 1 }, null],
  ['without what is always there', 200, { name: 'a' }, /required property 'id'/],
  ['with another type', 200, { id: '1' }, /answer\/id must be integer/],
  ['with more than is told', 200, { id: 1, colour: 'blue' }, /must NOT have additional properties/],
  ['with all that may be in what may be null', 200, { id: 1, nest: { twigs: 2, mud: 1 } }, null],
  [
    'with more than is told of what may be null',
    200,
    { id: 1, nest: { twigs: 2, moss: 1 } },
    /nest must NOT have additional/,
  ],
  ['without what is always there in what may be null', 200, { id: 1, nest: {} }, /nest must have required/],
  ['a refusal', 401, { message: '401 Unauthorized' }, null],
  ['a refusal with a field of its own', 401, { reason: 'no' }, /must match a schema in anyOf/],
  ['a refusal with a field more', 401, { message: 'no', hint: 'x' }, /must NOT have additional properties/],
])('answers %s', (_, status, body, problem) => {
  expectProblem(problemsOf(one(egg) as Answer<never>, { status, body }), problem);
});

const WRITTEN = { 'content-type': 'text/plain' };
it.each([
  ['a list', page(egg), { status: 200, body: [{ id: 1 }], headers: { 'x-page': '1' } }, null],
  [
    'a list with one that has more',
    page(egg),
    { status: 200, body: [{ id: 1 }, { id: 2, a: 1 }] },
    /answer\/1 must NOT/,
  ],
  ['an object for a list', page(egg), { status: 200, body: { id: 1 } }, /must be array/],
  ['a list with a page that is no number', page(egg), { status: 200, body: [], headers: { 'x-page': 'a' } }, /X-Page/],
  ['another success', created(egg), { status: 200, body: { id: 1 } }, /does not tell of this status/],
  ['nothing', none(), { status: 204 }, null],
  ['something for nothing', none(), { status: 204, body: { id: 1 } }, /its body is application\/json.*of none/],
  ['nothing for something', one(egg), { status: 200 }, /no body/],
  ['text for JSON', one(egg), { status: 200, body: 'egg', headers: WRITTEN }, /text\/plain.*application\/json/],
  ['a file', file('text/plain'), { status: 200, body: 'egg', headers: WRITTEN }, null],
  ['an empty file', file('text/plain'), { status: 200, headers: WRITTEN }, null],
  ['a file of another type', file('image/*'), { status: 200, body: 'egg', headers: WRITTEN }, /of image/],
  ['another place', redirect(), { status: 302, headers: { location: 'http://x' } }, null],
  ['another place that it does not name', redirect(), { status: 302 }, /lacks the header Location/],
  ['unavailable', one(egg), { status: 503, body: { message: 'x' }, headers: { 'retry-after': '1' } }, null],
  ['unavailable for it does not say how long', one(egg), { status: 503, body: { message: 'x' } }, /Retry-After/],
  ['a conflict without an end', one(egg), { status: 409, body: { message: 'x' } }, null],
  [
    'a conflict until soon',
    one(egg),
    { status: 409, body: { message: 'x' }, headers: { 'retry-after': 'soon' } },
    /Retry/,
  ],
] as const)('answers %s', (_, answers, seen, problem) => {
  expectProblem(problemsOf(answers as Answer<never>, seen), problem);
});

it('takes refusals on the way to any operation in known shapes only', () => {
  const judge = documentJudge(openApiDocument({ service: 'test', version: '0', endpoints: [] }));
  const headers = new Headers({ 'content-type': 'application/json' });
  const said = (status: number, body: object) =>
    judge('GET', '/api/v4/none', { status, headers, text: JSON.stringify(body) });
  expect(said(404, { error: '404 Not Found' })).toBeNull();
  expect(said(404, { error: '404 Not Found', path: '/none' })).toMatch(/must NOT have additional/);
  expect(said(200, {})).toMatch(/does not tell of this status/);
});
