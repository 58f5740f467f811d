import { readFile, writeFile } from 'node:fs/promises';
import type { JsonSchema } from '../answers/answers';
import type { EndpointRecord } from '../endpoint/endpoint';
import { registeredEndpoints } from '../endpoint/endpoint';
import { fieldSchema, isRequired, paramsSchema } from './field-schema';
import { fieldsOf } from '../params/fields';
import type { FieldDeclaration } from '../params/fields';
import { takesKey } from '../endpoint/keyed-request';
import { acceptedScopes } from '../endpoint/pipeline';
import { Presenter } from '../answers/presenter';
import { DEFAULT_BODY_LIMIT } from '../params/request-body';
import { pathNamesOf, templatesOf, wildcardNameOf } from '../endpoint/route-template';
import { REFUSAL_SCHEMAS, SHARED_COMPONENTS, sharedParameter } from './openapi-components';
import { responsesOf } from './openapi-responses';

export interface OpenApiOptions {
  readonly service: string;
  readonly version: string;
  /** Every endpoint whose controller is imported, without. */
  readonly endpoints?: readonly EndpointRecord[];
  /** What generated clients call each operation. Errors: may throw for one that has no name yet. */
  readonly nameOf?: (method: string, template: string) => string;
  /** The nouns of the service, with a sentence each: wings by the names of their folders. */
  readonly nouns?: Readonly<Record<string, string>>;
}

/** What a body that carries no files may say of one. */
const NO_FILE: JsonSchema = { type: ['string', 'null'], maxLength: 0, description: 'Empty: the file is removed.' };
const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded'];

/**
 * The OpenAPI 3.1 document of a service: what is declared is what is documented. Keys are sorted, so that a
 * difference is a difference. The gateway builds its route table and body limits from it (`x-rookery-*`).
 * Errors: a plain Error when two different shapes have one name.
 */
export function openApiDocument(options: OpenApiOptions): object {
  const { service, version, endpoints = registeredEndpoints(), nouns = {} } = options;
  const schemas = new Map<string, JsonSchema>();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const templates = templatesOf(endpoint);
    templates.forEach((template, index) => {
      const path = template.replace(/[:*]([A-Za-z_]\w*)/g, '{$1}');
      const operation = operationOf(options, endpoint, template, index === 0 ? null : templates[0]!);
      (paths[path] ??= {})[endpoint.method.toLowerCase()] = withSchemas(operation, schemas);
    });
  }
  return sortKeys({
    openapi: '3.1.0',
    info: { title: `Rookery ${service}`, version },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { bearer: [] }],
    tags: tagsOf(paths, nouns),
    paths,
    components: { ...SHARED_COMPONENTS, schemas: { ...Object.fromEntries(schemas), ...REFUSAL_SCHEMAS } },
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

function operationOf(
  options: OpenApiOptions,
  endpoint: EndpointRecord,
  template: string,
  aliasOf: string | null,
): JsonSchema {
  const { options: said, method, controller, handler } = endpoint;
  const body = bodyOf(endpoint, template);
  const scopes = acceptedScopes(endpoint);
  return {
    operationId: options.nameOf?.(method, template) ?? handler + stampOf(template),
    summary: said.about,
    tags: [nounOf(options, endpoint, template)],
    security: securityOf(endpoint, scopes),
    parameters: parametersOf(endpoint, template),
    ...(body === null ? {} : { requestBody: body }),
    responses: responsesOf(endpoint),
    ...(said.deprecated === undefined && aliasOf === null ? {} : { deprecated: true }),
    'x-rookery-source': said.source,
    'x-rookery-permission': said.may.name,
    'x-rookery-handler': `${controller.name}.${handler}`,
    ...(endpoint.file === null ? {} : { 'x-rookery-file': endpoint.file }),
    'x-rookery-token-scopes': scopes ?? 'any',
    'x-rookery-body-limit': said.body?.maxBytes ?? said.bodyLimit ?? DEFAULT_BODY_LIMIT,
    ...streamsOf(endpoint),
    ...(template.includes('*') ? { 'x-rookery-template': template } : {}),
    ...(aliasOf === null ? {} : { 'x-rookery-alias-of': aliasOf }),
    ...(said.within ? { 'x-rookery-within': said.within.kind } : {}),
  };
}

/** Each way to sign in with each scope that suffices; nothing at all where anonymous callers are asked too. */
function securityOf({ method, options: { may } }: EndpointRecord, scopes: readonly string[] | null): JsonSchema[] {
  const ways = (scopes ?? [null]).flatMap((scope) => {
    const asked = scope === null ? [] : [scope];
    return [{ token: asked }, { bearer: asked }];
  });
  const isOpen = may.anonymous === 'asked' || (may.anonymous === 'reads' && method === 'GET');
  return isOpen ? [...ways, {}] : ways;
}

/** The noun of an operation: its wing (alone or in a district), or else the last noun in its path. */
function nounOf({ service, nouns }: OpenApiOptions, { file }: EndpointRecord, template: string): string {
  const segments = template.split('/').filter((part) => /^[a-z]/.test(part) && part !== 'api' && part !== 'v4');
  const folders = /^apps\/[^/]+\/src\/(.+)\//.exec(file ?? '')?.[1]?.split('/') ?? [];
  const names = [...folders.slice(0, 2), ...segments.map((segment) => segment.replaceAll('_', '-')).reverse()];
  const noun = names.find((name) => name !== undefined && nouns !== undefined && Object.hasOwn(nouns, name));
  return asTag(noun ?? segments[0] ?? service);
}

function asTag(noun: string): string {
  const words = noun.replaceAll(/[-_]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function tagsOf(paths: Readonly<Record<string, object>>, nouns: Readonly<Record<string, string>>): JsonSchema[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods) as { tags: string[] }[]);
  const about = new Map(Object.entries(nouns).map(([noun, sentence]) => [asTag(noun), sentence]));
  return [...new Set(operations.flatMap(({ tags }) => tags))]
    .sort()
    .map((name) => ({ name, ...(about.has(name) ? { description: about.get(name) } : {}) }));
}

/** Tells the paths of one handler apart. */
function stampOf(template: string): string {
  const stem = template.replace(/^\/api\/v4/, '').replace(/[^A-Za-z0-9]+/g, '_');
  return `.${stem.replace(/^_|_$/g, '')}`;
}

function parametersOf(endpoint: EndpointRecord, template: string): readonly JsonSchema[] {
  const { options, method } = endpoint;
  const names = pathNamesOf(template);
  const wildcard = wildcardNameOf(template);
  const fields = options.params ? fieldsOf(options.params) : [];
  const byName = new Map(fields.map((field) => [field.name, field]));
  const inPath = [...names].map((name) => {
    const field = byName.get(name);
    const shown = told(field ? fieldSchema(field) : { type: name === wildcard ? 'string' : ['integer', 'string'] });
    const ref = name === wildcard ? 'Full path' : 'Id or full path';
    const about = options.within?.param === name ? { description: `${ref} of the ${options.within.kind}.` } : {};
    return { name, in: 'path', required: true, ...shown, ...about, ...(name === wildcard ? WILDCARD : {}) };
  });
  const isQuery = method === 'GET' || method === 'DELETE';
  const elsewhere = new Set([...names, ...headerOnlyOf(fields)]);
  const inQuery = isQuery ? fields.filter((field) => !elsewhere.has(field.name)).flatMap(queryParameters) : [];
  const said = new Set(inQuery.map((parameter) => parameter['name']));
  const paging = pagingParameters(endpoint).filter(([name]) => !said.has(name));
  return [
    ...inPath,
    ...inQuery,
    ...headerParameters(fields),
    ...paging.map(([, component]) => sharedParameter(component)),
    sharedParameter('Sudo'),
    ...(takesKey(endpoint) ? [sharedParameter('IdempotencyKey')] : []),
  ];
}

function headerOnlyOf(fields: readonly FieldDeclaration[]): readonly string[] {
  return fields.filter((field) => field.common.in === 'header').map((field) => field.name);
}

function headerParameters(fields: readonly FieldDeclaration[]): readonly JsonSchema[] {
  return fields.flatMap((field) => {
    const { header } = field.common;
    return header === undefined ? [] : [{ name: header, in: 'header', ...told(fieldSchema(field)) }];
  });
}

function queryParameters(field: FieldDeclaration): readonly JsonSchema[] {
  const { kind } = field.form;
  const listed = kind === 'list' || kind === 'hashes';
  const main = {
    name: listed ? `${field.name}[]` : field.name,
    in: 'query',
    ...(isRequired(field) ? { required: true } : {}),
    ...told(fieldSchema(field)),
    ...(kind === 'hash' || kind === 'group' ? { style: 'deepObject', explode: true } : {}),
    ...(field.common.deprecated === undefined ? {} : { deprecated: true }),
  };
  const aliases = [field.common.alias ?? []].flat();
  return [main, ...aliases.map((name) => ({ name, in: 'query', deprecated: true, ...told(fieldSchema(field)) }))];
}

/** Generators read what a parameter is about beside its schema. */
function told({ description, ...schema }: JsonSchema): JsonSchema {
  return { ...(description === undefined ? {} : { description }), schema };
}

/** Shape: the name of each with that of its component. */
function pagingParameters({ options: { answers } }: EndpointRecord): readonly (readonly [string, string])[] {
  if (answers.kind !== 'page') return [];
  const pages = [['page', 'Page'] as const, ['per_page', 'PerPage'] as const];
  if (!answers.keyset) return pages;
  return [
    ...pages,
    ['pagination', 'Pagination'],
    ['cursor', 'Cursor'],
    ['id_after', 'IdAfter'],
    ['id_before', 'IdBefore'],
  ];
}

/** OpenAPI has no word for a parameter that spans segments. */
const WILDCARD = { 'x-rookery-wildcard': true };
const BYTES = { schema: { type: 'string', format: 'binary' } };

/** What the gateway passes on as a stream, in either direction. */
function streamsOf({ options: { body, answers } }: EndpointRecord): JsonSchema {
  const streams = [...(body ? ['request'] : []), ...(answers.hasRanges ? ['response'] : [])];
  return streams.length === 0 ? {} : { 'x-rookery-streams': streams };
}

function bodyOf({ options, method }: EndpointRecord, template: string): JsonSchema | null {
  if (options.body) {
    const types = options.body.types ?? ['application/octet-stream'];
    return { content: Object.fromEntries(types.map((type) => [type, BYTES])) };
  }
  if (method === 'GET' || method === 'DELETE' || !options.params) return null;
  const named = new Set([...pathNamesOf(template), ...headerOnlyOf(fieldsOf(options.params))]);
  const uploads = fieldsOf(options.params).filter((field) => field.form.kind === 'upload');
  const whole = paramsSchema(options.params, named);
  if (Object.keys(whole['properties'] as object).length === 0) return null;
  const plain = paramsSchema(options.params, new Set([...named, ...uploads.map((field) => field.name)]));
  const removable = uploads.filter((field) => field.common.nullable).map((field) => [field.name, NO_FILE]);
  const schema = { ...plain, properties: { ...(plain['properties'] as object), ...Object.fromEntries(removable) } };
  // Texts may come as multipart everywhere; it is named where files may, since only such bodies carry them.
  const carriesPlain = !uploads.some(isRequired) && Object.keys(schema.properties).length > 0;
  return {
    content: {
      ...(carriesPlain ? Object.fromEntries(BODY_TYPES.map((type) => [type, { schema }])) : {}),
      ...(uploads.length === 0 ? {} : { 'multipart/form-data': { schema: whole } }),
    },
  };
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
