import {
  anyone,
  Endpoint,
  endpointsOf,
  int,
  nullable,
  object,
  one,
  openApiDocument,
  presenter,
  text,
} from '@rookery/api-v4';
import { documentJudge, schemaProblem } from './answer-schemas';

class Eggs {
  show(): object {
    return {};
  }
}
const egg = presenter<object>('Egg').fields({
  id: [int, () => 1],
  name: [text, () => 'x', { when: () => false }],
  nest: [nullable(object({ twigs: int })), () => null, { when: () => false }],
});
Endpoint('GET', '/eggs', { about: 'x', source: 'x', may: anyone(), answers: one(egg) })(Eggs.prototype, 'show', {});
const [endpoint] = endpointsOf(Eggs);

it.each([
  ['what is documented', 200, { id: 1, name: 'a' }, null],
  ['without what may be absent', 200, { id: 1 }, null],
  ['without what is always there', 200, { name: 'a' }, /required property 'id'/],
  ['with another type', 200, { id: '1' }, /answer\/id must be integer/],
  ['with more than is told', 200, { id: 1, colour: 'blue' }, /must NOT have additional properties/],
  [
    'with more than is told of what may be null',
    200,
    { id: 1, nest: { twigs: 2, mud: 1 } },
    /nest must NOT have additional/,
  ],
  ['without what is always there in what may be null', 200, { id: 1, nest: {} }, /nest must have required/],
  ['a refusal', 401, { message: '401 Unauthorized' }, null],
  ['a refusal with a field of its own', 401, { reason: 'no' }, /must match a schema in anyOf/],
])('answers %s', (_, status, body, problem) => {
  const found = schemaProblem(endpoint!, status, body);
  // Suites without endpoints judge by the document.
  const served = documentJudge(openApiDocument({ service: 'test', version: '0', endpoints: [endpoint!] }));
  for (const said of [found, served('GET', '/api/v4/eggs', status, body)]) {
    if (problem === null) expect(said).toBeNull();
    else expect(said).toMatch(problem);
  }
});
