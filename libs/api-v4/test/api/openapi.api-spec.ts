import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endpointsOf, int, openApiDocument, presenter, writeOpenApi } from '../../src';
import { anyone, Endpoint, one } from '../../src';
import { OddsController, WidgetsController } from '../support/widgets';

interface Document {
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: { schemas: Record<string, unknown> };
}
const endpoints = [...endpointsOf(WidgetsController), ...endpointsOf(OddsController)];
const createDocument = (): Document => openApiDocument({ service: 'package', version: '1.2.3', endpoints }) as Document;
const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('is valid OpenAPI 3.1', () => {
  const file = join(folder, 'valid.json');
  writeFileSync(file, JSON.stringify(createDocument()));
  // The validator is an ES module, which jest does not load.
  const script = `import { Validator } from '@seriousme/openapi-schema-validator';
    const result = await new Validator().validate(process.argv[1]);
    process.stdout.write(JSON.stringify(result));`;
  const result: unknown = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script, file], { cwd: __dirname, encoding: 'utf8' }),
  );
  expect(result).toEqual({ valid: true });
});

it('documents the source, permission and answers of each operation', () => {
  const create = createDocument().paths['/api/v4/projects/{id}/widgets']!['post']!;
  expect(create).toMatchObject({
    summary: 'Adds a widget.',
    'x-rookery-source': 'a test',
    'x-rookery-permission': 'at least reporter',
    'x-rookery-handler': 'WidgetsController.create',
    'x-rookery-file': 'libs/api-v4/test/support/widgets.ts',
    'x-rookery-token-scopes': ['api'],
    'x-rookery-body-limit': 1_048_576,
    parameters: [
      { name: 'id', in: 'path', required: true },
      { $ref: '#/components/parameters/Sudo' },
      { $ref: '#/components/parameters/IdempotencyKey' },
    ],
    security: [{ token: ['api'] }, { bearer: ['api'] }],
  });
  const statuses = ['201', '400', '401', '403', '404', '405', '409', '413', '415', '422', '429', '502', '503', '504'];
  expect(Object.keys(create['responses'] as object)).toEqual(statuses);
  expect(create['responses']).toMatchObject({ '404': { $ref: '#/components/responses/NotFound' } });
  const body = create['requestBody'] as { content: Record<string, { schema: unknown }> };
  expect(Object.keys(body.content)).toEqual(['application/json', 'application/x-www-form-urlencoded']);
  const picture = createDocument().paths['/api/v4/projects/{id}/widgets/picture']!['put']!;
  expect(picture['requestBody']).toMatchObject({ content: { 'multipart/form-data': {} } });
  expect(picture).toMatchObject({ 'x-rookery-body-limit': 2048, 'x-rookery-deadline-ms': 60_000 });
  expect(create).not.toHaveProperty('x-rookery-deadline-ms');
  const face = createDocument().paths['/api/v4/projects/{id}/widgets/face']!['put']!;
  const formOf = (avatar: object): object => ({ schema: { type: 'object', properties: { avatar } } });
  const noFile = { type: ['string', 'null'], maxLength: 0, description: 'Empty: the file is removed.' };
  expect(face['requestBody']).toEqual({
    content: {
      'application/json': formOf(noFile),
      'application/x-www-form-urlencoded': formOf(noFile),
      'multipart/form-data': formOf({ type: ['string', 'null'], format: 'binary' }),
    },
  });
  expect(body.content['application/json']!.schema).toMatchObject({
    required: ['title'],
    properties: { title: { type: 'string', maxLength: 200 }, parent_id: { type: ['integer', 'null'] } },
  });
});

it('documents lists, aliases, and each schema once', () => {
  const { paths, components } = createDocument();
  const list = paths['/api/v4/projects/{id}/widgets']!['get']! as { parameters: { name?: string; $ref?: string }[] };
  const shared = ['Page', 'PerPage', 'Pagination', 'Cursor', 'IdAfter', 'IdBefore', 'Sudo'];
  expect(list.parameters.map((parameter) => parameter.name ?? parameter.$ref)).toEqual([
    'id',
    'order_by',
    'labels[]',
    'lfs',
    'hidden',
    ...shared.map((name) => `#/components/parameters/${name}`),
  ]);
  expect(paths['/api/v4/projects/{id}/items']!['get']).toMatchObject({
    deprecated: true,
    'x-rookery-alias-of': '/api/v4/projects/:id/widgets',
  });
  expect(paths).toHaveProperty(['/-/bytes']);
  const refusals = [
    '',
    'ByField',
    'InList',
    'InSentences',
    'OfForm',
    'OfImport',
    'OfRate',
    'OfRegistry',
    'OfRepohostImport',
    'OfSome',
    'OfToken',
    'UnderError',
    'WithCode',
  ].map((name) => `Refusal${name}`);
  expect(Object.keys(components.schemas)).toEqual([...refusals, 'Widget']);
});

it('names operations, and tags them with the noun of their wing', () => {
  const nameOf = (method: string, template: string): string => `${method} of ${template}`;
  const nouns = { widgets: 'Resources of a test.' };
  const document = openApiDocument({ service: 'package', version: '1.2.3', endpoints, nameOf, nouns }) as Document;
  expect(document.paths['/api/v4/projects/{id}/widgets']!['post']).toMatchObject({
    operationId: 'POST of /api/v4/projects/:id/widgets',
    tags: ['Widgets'],
  });
  expect(document).toMatchObject({
    tags: expect.arrayContaining([{ name: 'Widgets', description: 'Resources of a test.' }]),
  });
});

it('documents that anonymous callers are accepted', () => {
  const bytes = createDocument().paths['/-/bytes']!['get']!;
  expect(bytes['security']).toContainEqual({});
  expect(bytes['security']).toContainEqual({ bearer: ['read_api'] });
});

it('has sorted keys, and is written only when it has changed', async () => {
  const file = join(folder, 'openapi.json');
  expect(await writeOpenApi(file, createDocument())).toBe(true);
  expect(await writeOpenApi(file, createDocument())).toBe(false);
  const keys = Object.keys((JSON.parse(readFileSync(file, 'utf8')) as Document).paths);
  expect(keys).toEqual([...keys].sort());
});

it('refuses two schemas with the same name', () => {
  const shape = (field: string) => presenter<object>('Same').fields({ [field]: [int, () => 1] });
  class Twice {
    a(): object {
      return {};
    }
  }
  const say = { about: 'x', source: 'x', may: anyone() };
  Endpoint('GET', '/a', { ...say, answers: one(shape('a')) })(Twice.prototype, 'a', {});
  Endpoint('GET', '/b', { ...say, answers: one(shape('b')) })(Twice.prototype, 'a', {});
  expect(() => openApiDocument({ service: 'x', version: '1', endpoints: endpointsOf(Twice) })).toThrow(
    'two presenters with different schemas are named Same',
  );
});
