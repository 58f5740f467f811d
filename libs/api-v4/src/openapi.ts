import { readFile, writeFile } from 'node:fs/promises';
import type { JsonSchema } from './answers';
import type { EndpointRecord } from './endpoint';
import { registeredEndpoints } from './endpoint';
import { fieldSchema, isRequired, paramsSchema } from './field-schema';
import { fieldsOf } from './fields';
import type { FieldDeclaration } from './fields';
import { acceptedScopes } from './pipeline';
import { Presenter } from './presenter';
import { DEFAULT_BODY_LIMIT } from './request-body';
import { pathNamesOf, templatesOf } from './route-template';
import { responsesOf } from './openapi-responses';

export interface OpenApiOptions {
  readonly service: string;
  readonly version: string;
  /** Every endpoint whose controller is imported, without. */
  readonly endpoints?: readonly EndpointRecord[];
}

const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded'];

/**
 * The OpenAPI 3.1 document of a service: what is declared is what is documented. Keys are sorted, so that a
 * difference is a difference. The gateway builds its route table and body limits from it (`x-rookery-*`).
 * Errors: a plain Error when two different shapes have one name.
 */
export function openApiDocument({ service, version, endpoints = registeredEndpoints() }: OpenApiOptions): object {
  const schemas = new Map<string, JsonSchema>();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const templates = templatesOf(endpoint);
    templates.forEach((template, index) => {
      const path = template.replace(/[:*]([A-Za-z_]\w*)/g, '{$1}');
      const operation = operationOf(service, endpoint, template, index === 0 ? null : templates[0]!);
      (paths[path] ??= {})[endpoint.method.toLowerCase()] = withSchemas(operation, schemas);
    });
  }
  return sortKeys({
    openapi: '3.1.0',
    info: { title: `Rookery ${service}`, version },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { bearer: [] }, {}],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'PRIVATE-TOKEN' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      schemas: { ...Object.fromEntries(schemas), Refusal: REFUSAL },
    },
    'x-rookery-service': service,
  }) as object;
}

/** Writes the document unless it is there already. Shape: resolves to whether the file changed. */
export async function writeOpenApi(file: string, document: object): Promise<boolean> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const before = await readFile(file, 'utf8').catch(() => '');
  if (before !== text) await writeFile(file, text);
  return before !== text;
}

const REFUSAL: JsonSchema = {
  type: 'object',
  description: 'Either `message` (a text, or texts by field) or `error`.',
  properties: {
    message: {},
    error: { type: 'string' },
    error_description: { type: 'string' },
    scope: { type: 'string' },
  },
};

function operationOf(service: string, endpoint: EndpointRecord, template: string, aliasOf: string | null): JsonSchema {
  const { options, method, controller, handler } = endpoint;
  const id = `${controller.name.replace(/Controller$/, '')}.${handler}.${method.toLowerCase()}`;
  const suffix = aliasOf === null ? '' : `.${template.replace(/\W+/g, '_')}`;
  const body = bodyOf(endpoint, template);
  return {
    operationId: `${service}.${id}${suffix}${stampOf(template)}`,
    summary: options.about,
    tags: [
      template.split('/').find((part) => part !== '' && part !== 'api' && part !== 'v4' && part !== '-') ?? service,
    ],
    parameters: parametersOf(endpoint, template),
    ...(body === null ? {} : { requestBody: body }),
    responses: responsesOf(endpoint),
    ...(options.deprecated === undefined && aliasOf === null ? {} : { deprecated: true }),
    'x-rookery-source': options.source,
    'x-rookery-permission': options.may.name,
    'x-rookery-handler': `${controller.name}.${handler}`,
    ...(endpoint.file === null ? {} : { 'x-rookery-file': endpoint.file }),
    'x-rookery-token-scopes': acceptedScopes(endpoint) ?? 'any',
    'x-rookery-body-limit': options.bodyLimit ?? DEFAULT_BODY_LIMIT,
    ...(template.includes('*') ? { 'x-rookery-template': template } : {}),
    ...(aliasOf === null ? {} : { 'x-rookery-alias-of': aliasOf }),
    ...(options.within ? { 'x-rookery-within': options.within.kind } : {}),
  };
}

/** Controllers that a function stamps share their class name; their paths tell them apart. */
function stampOf(template: string): string {
  const stem = template.replace(/^\/api\/v4/, '').replace(/[^A-Za-z0-9]+/g, '_');
  return `.${stem.replace(/^_|_$/g, '')}`;
}

function parametersOf(endpoint: EndpointRecord, template: string): readonly JsonSchema[] {
  const { options, method } = endpoint;
  const names = pathNamesOf(template);
  const fields = options.params ? fieldsOf(options.params) : [];
  const byName = new Map(fields.map((field) => [field.name, field]));
  const inPath = [...names].map((name) => {
    const field = byName.get(name);
    const schema = field ? fieldSchema(field) : { type: ['integer', 'string'] };
    const about =
      options.within?.param === name ? { description: `Id or full path of the ${options.within.kind}.` } : {};
    return { name, in: 'path', required: true, schema, ...about };
  });
  const isQuery = method === 'GET' || method === 'DELETE';
  const inQuery = isQuery ? fields.filter((field) => !names.has(field.name)).flatMap(queryParameters) : [];
  return [...inPath, ...inQuery, ...headerParameters(fields), ...pagingParameters(endpoint)];
}

function headerParameters(fields: readonly FieldDeclaration[]): readonly JsonSchema[] {
  return fields.flatMap((field) => {
    const { header } = field.common;
    return header === undefined ? [] : [{ name: header, in: 'header', schema: fieldSchema(field) }];
  });
}

function queryParameters(field: FieldDeclaration): readonly JsonSchema[] {
  const { kind } = field.form;
  const listed = kind === 'list' || kind === 'hashes';
  const main = {
    name: listed ? `${field.name}[]` : field.name,
    in: 'query',
    ...(isRequired(field) ? { required: true } : {}),
    schema: fieldSchema(field),
    ...(kind === 'hash' || kind === 'group' ? { style: 'deepObject', explode: true } : {}),
    ...(field.common.deprecated === undefined ? {} : { deprecated: true }),
  };
  const aliases = [field.common.alias ?? []].flat();
  return [main, ...aliases.map((name) => ({ name, in: 'query', deprecated: true, schema: fieldSchema(field) }))];
}

function pagingParameters({ options: { answers } }: EndpointRecord): readonly JsonSchema[] {
  if (answers.kind !== 'page') return [];
  const query = (name: string, schema: JsonSchema): JsonSchema => ({ name, in: 'query', schema });
  const pages = [
    query('page', { type: 'integer', default: 1, minimum: 1 }),
    query('per_page', { type: 'integer', default: 20, minimum: 1, maximum: 100 }),
  ];
  if (!answers.keyset) return pages;
  return [
    ...pages,
    query('pagination', { type: 'string', enum: ['keyset', 'legacy'] }),
    query('cursor', { type: 'string' }),
    query('id_after', { type: 'integer' }),
    query('id_before', { type: 'integer' }),
  ];
}

function bodyOf({ options, method }: EndpointRecord, template: string): JsonSchema | null {
  if (method === 'GET' || method === 'DELETE' || !options.params) return null;
  const schema = paramsSchema(options.params, pathNamesOf(template));
  if (Object.keys(schema['properties'] as object).length === 0) return null;
  // Texts may come as multipart everywhere; it is named where files may, since the gateway streams such bodies.
  const takesFiles = fieldsOf(options.params).some((field) => field.form.kind === 'upload');
  const types = takesFiles ? [...BODY_TYPES, 'multipart/form-data'] : BODY_TYPES;
  return { content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

/** Replaces each reference to a presenter by a plain one and keeps the shape it names. */
function withSchemas(value: unknown, schemas: Map<string, JsonSchema>): unknown {
  if (Array.isArray(value)) return value.map((item) => withSchemas(item, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const presenter = (value as JsonSchema)['x-presenter'];
  if (presenter instanceof Presenter) {
    keep(presenter as Presenter<never>, schemas);
    return { $ref: (value as JsonSchema)['$ref'] };
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withSchemas(item, schemas)]));
}

const keptBy = new WeakMap<Map<string, JsonSchema>, Map<string, Presenter<never>>>();

function keep(presenter: Presenter<never>, schemas: Map<string, JsonSchema>): void {
  const makers = keptBy.get(schemas) ?? new Map<string, Presenter<never>>();
  keptBy.set(schemas, makers);
  const known = makers.get(presenter.name);
  if (known === presenter) return;
  makers.set(presenter.name, presenter);
  const schema = withSchemas(presenter.schema, schemas) as JsonSchema;
  if (known && JSON.stringify(schemas.get(presenter.name)) !== JSON.stringify(schema)) {
    throw new Error(`two presenters of different shape are named ${presenter.name}`);
  }
  schemas.set(presenter.name, schema);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([name, item]) => [name, sortKeys(item)]));
}
