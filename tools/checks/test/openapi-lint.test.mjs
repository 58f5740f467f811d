/**
 * The check of the OpenAPI document reports defects that break client generators.
 *
 * @typedef {(list: any, document: any) => unknown} Change
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  findOpenAnswerSchemas,
  lintOpenApiDocument,
  missingDescriptionProblems,
  problemsOfOpenSchemas,
} from '../openapi-lint.mjs';

const DOCUMENT = readFileSync(new URL('../../../apps/gateway/openapi.json', import.meta.url), 'utf8');
const LIST = '/api/v4/todos';

/** @param {Change} change */
async function problemsAfter(change) {
  const document = JSON.parse(DOCUMENT);
  change(document.paths[LIST].get, document);
  return (await lintOpenApiDocument(JSON.stringify(document))).join('\n');
}

describe('the linter of the OpenAPI document', () => {
  it('accepts the document', async () => assert.equal(await problemsAfter(() => {}), ''));

  /** @type {Record<string, [problem: RegExp, change: Change]>} */
  const refused = {
    'a parameter twice': [/unique `name` \+ `in`/, (list) => list.parameters.push(list.parameters[0])],
    'a name twice': [
      /unique `operationId`/,
      (list, { paths }) => (paths['/api/v4/user'].get.operationId = list.operationId),
    ],
    'no name': [/should contain `operationId`/, (list) => delete list.operationId],
    'no authentication': [
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
    'a required field that does not exist': [
      /not defined|is undefined|must be defined/i,
      (_, { components }) => components.schemas.Todo.required.push('no'),
    ],
  };
  for (const [name, [problem, change]] of Object.entries(refused)) {
    it(`reports ${name}`, async () => assert.match(await problemsAfter(change), problem));
  }
});

describe('names without a description', () => {
  const document = {
    paths: { '/pins': { get: { parameters: [{ name: 'hue', in: 'query', schema: { type: 'string' } }] } } },
    components: {
      schemas: { Pin: { type: 'object', properties: { id: { description: 'Its id.' }, shape: { type: 'string' } } } },
    },
  };
  it('are reported unless they are listed, and so are needless entries of the list', () => {
    assert.deepEqual(missingDescriptionProblems(document, ['hue', 'id']), [
      'shape: has no description (about)',
      'id: is in plain-names.txt, but has a description',
    ]);
    assert.deepEqual(missingDescriptionProblems(document, ['hue', 'shape']), []);
  });
});

describe('answers without a schema', () => {
  const document = JSON.parse(DOCUMENT);
  it('do not exist', () => assert.deepEqual(problemsOfOpenSchemas(document), []));

  /** @type {Record<string, [at: string, change: (schemas: any) => unknown]>} */
  const refused = {
    'a field of any type': ['Note.body', ({ Note }) => (Note.properties.body = { description: 'Words.' })],
    'an object without named fields': [
      'Project.namespace',
      ({ Project }) => delete Project.properties.namespace.properties,
    ],
    'fields without an object type': ['Egg', (schemas) => (schemas.Egg = { properties: {} })],
    'an open map': ['Note.x.*', ({ Note }) => (Note.properties.x = { type: 'object', additionalProperties: true })],
    'a list without a schema of its items': [
      'Issue.labels[]',
      ({ Issue }) => (Issue.properties.labels = { type: 'array', items: {} }),
    ],
  };
  for (const [name, [at, change]] of Object.entries(refused)) {
    it(`include ${name}`, () => {
      const { components } = structuredClone(document);
      change(components.schemas);
      assert.ok(findOpenAnswerSchemas({ components, paths: {} }).includes(at));
    });
  }
});
