/** The check of the OpenAPI document: what generators stumble over is told. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { openSchemas, problemsOf, problemsOfNames, problemsOfOpenSchemas } from '../openapi-lint.mjs';

const DOCUMENT = readFileSync(new URL('../../../apps/gateway/openapi.json', import.meta.url), 'utf8');
const LIST = '/api/v4/todos';

async function problemsAfter(change) {
  const document = JSON.parse(DOCUMENT);
  change(document.paths[LIST].get, document);
  return (await problemsOf(JSON.stringify(document))).join('\n');
}

describe('the linter of the OpenAPI document', () => {
  it('finds nothing as it is', async () => assert.equal(await problemsAfter(() => {}), ''));

  const refused = {
    'a parameter twice': [/unique `name` \+ `in`/, (list) => list.parameters.push(list.parameters[0])],
    'a name twice': [
      /unique `operationId`/,
      (list, { paths }) => (paths['/api/v4/user'].get.operationId = list.operationId),
    ],
    'no name': [/should contain `operationId`/, (list) => delete list.operationId],
    'no way to sign in': [
      /should have security/,
      (list, document) => {
        delete list.security;
        delete document.security;
      },
    ],
    'an unknown component': [
      /Can.t resolve \$ref/,
      (list) => list.parameters.push({ $ref: '#/components/parameters/No' }),
    ],
    'a required field that is none': [
      /not defined|is undefined|must be defined/i,
      (_, { components }) => components.schemas.Todo.required.push('no'),
    ],
  };
  for (const [name, [problem, change]] of Object.entries(refused)) {
    it(`tells of ${name}`, async () => assert.match(await problemsAfter(change), problem));
  }
});

describe('names without words', () => {
  const document = {
    paths: { '/pins': { get: { parameters: [{ name: 'hue', in: 'query', schema: { type: 'string' } }] } } },
    components: {
      schemas: { Pin: { type: 'object', properties: { id: { description: 'Its id.' }, shape: { type: 'string' } } } },
    },
  };
  it('are told of unless they are listed, and so is what is listed for nothing', () => {
    assert.deepEqual(problemsOfNames(document, ['hue', 'id']), [
      'shape: nothing says what it is (about)',
      'id: in plain-names.txt for nothing',
    ]);
    assert.deepEqual(problemsOfNames(document, ['hue', 'shape']), []);
  });
});

describe('answers that may hold anything', () => {
  const document = JSON.parse(DOCUMENT);
  it('are told of, and there are none', () => assert.deepEqual(problemsOfOpenSchemas(document), []));

  const refused = {
    'a field of any type': ['Note.body', ({ Note }) => (Note.properties.body = { description: 'Words.' })],
    'an object of any fields': ['Project.namespace', ({ Project }) => delete Project.properties.namespace.properties],
    'fields of no object': ['Egg', (schemas) => (schemas.Egg = { properties: {} })],
    'an open map': ['Note.x.*', ({ Note }) => (Note.properties.x = { type: 'object', additionalProperties: true })],
    'a list of anything': ['Issue.labels[]', ({ Issue }) => (Issue.properties.labels = { type: 'array', items: {} })],
  };
  for (const [name, [at, change]] of Object.entries(refused)) {
    it(`tell of ${name}`, () => {
      const { components } = structuredClone(document);
      change(components.schemas);
      assert.ok(openSchemas({ components, paths: {} }).includes(at));
    });
  }
});
