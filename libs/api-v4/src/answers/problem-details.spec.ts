import { acceptsProblemDetails, toProblemDetails } from './problem-details';

test.each([
  [undefined, false],
  ['*/*', false],
  ['application/json', false],
  ['application/problem+json', true],
  ['*/*, Application/Problem+JSON; q=0.5', true],
  ['application/problem+json;q=0, */*', false],
  ['application/problem+json;q=0.0', false],
])('Accept %j asks for problem details: %j', (accept, expected) =>
  expect(acceptsProblemDetails(accept)).toBe(expected),
);

test('a refusal keeps its keys and its reason phrase', () => {
  const refusal = { status: 400, headers: { a: 'b' }, body: '{"message":"400 Bad request - No"}', reason: 'No' };
  const { body, ...rest } = toProblemDetails(refusal);
  expect(rest).toEqual({
    status: 400,
    headers: { a: 'b', 'content-type': 'application/problem+json', vary: 'Accept' },
    reason: 'No',
  });
  expect(JSON.parse(body!)).toEqual({
    type: 'about:blank',
    status: 400,
    title: 'Bad request',
    detail: '400 Bad request - No',
    message: '400 Bad request - No',
    error: '400 Bad request - No',
  });
});

test('a refusal without a body stays as it is', () => {
  const refusal = { status: 404, headers: {}, body: null };
  expect(toProblemDetails(refusal)).toBe(refusal);
});
