import { readFile, writeFile } from 'node:fs/promises';
import type { JsonSchema } from '../answers/answers';
import type { EndpointRecord } from '../endpoint/endpoint';
import { registeredEndpoints } from '../endpoint/endpoint';
import { fieldSchema, isRequired, paramsSchema } from './field-schema';
import { fieldsOf } from '../params/fields';
import type { FieldDeclaration } from '../params/fields';
import { acceptsIdempotencyKey } from '../endpoint/keyed-request';
import { acceptedTokenScopes } from '../endpoint/pipeline';
import { Presenter } from '../answers/presenter';
import { DEFAULT_BODY_LIMIT } from '../params/request-body';
import { pathParamNamesOf, templatesOf, wildcardNameOf } from '../endpoint/route-template';
import { REFUSAL_SCHEMAS, SHARED_COMPONENTS, sharedParameter } from './openapi-components';
import { describeResponses } from './openapi-responses';

/** Options of an OpenAPI document. */
export interface OpenApiOptions {
  readonly service: string;
  readonly version: string;
  /** Default: every endpoint whose controller is imported. */
  readonly endpoints?: readonly EndpointRecord[];
  /**
   * Returns the operation id, which is the method name in generated clients. Errors: may throw for an unnamed
   * operation.
   */
  readonly nameOf?: (method: string, template: string) => string;
  /** Descriptions of the service's nouns, one sentence each, by the names of the folders of their wings. */
  readonly nouns?: Readonly<Record<string, string>>;
}

/** Schema of a file field in bodies that carry no files. */
const NO_FILE: JsonSchema = { type: ['string', 'null'], maxLength: 0, description: 'Empty: the file is removed.' };
const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded'];

/**
 * Builds the OpenAPI 3.1 document of a service from its declared endpoints. Keys are sorted, so that a diff shows only
 * real changes. The gateway builds its route table and body limits from the document (`x-rookery-*`).
 * Errors: a plain Error when two different schemas have the same name.
 */
export function openApiDocument(options: OpenApiOptions): object {
  const { service, version, endpoints = registeredEndpoints(), nouns = {} } = options;
  const schemas = new Map<string, JsonSchema>();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const templates = templatesOf(endpoint);
    templates.forEach((template, index) => {
      const path = template.replace(/[:*]([A-Za-z_]\w*)/g, '{$1}');
      const operation = describeOperation(options, endpoint, template, index === 0 ? null : templates[0]!);
      (paths[path] ??= {})[endpoint.method.toLowerCase()] = replacePresentersByRefs(operation, schemas);
    });
  }
  return sortKeys({
    openapi: '3.1.0',
    info: { title: `Rookery ${service}`, version },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { bearer: [] }],
    tags: listTags(paths, nouns),
    paths,
    components: { ...SHARED_COMPONENTS, schemas: { ...Object.fromEntries(schemas), ...REFUSAL_SCHEMAS } },
    'x-rookery-service': service,
  }) as object;
}

/** Writes the document if the file differs. Returns whether the file changed. */
export async function writeOpenApi(file: string, document: object): Promise<boolean> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const before = await readFile(file, 'utf8').catch(() => '');
  if (before !== text) await writeFile(file, text);
  return before !== text;
}

function describeOperation(
  options: OpenApiOptions,
  endpoint: EndpointRecord,
  template: string,
  aliasOf: string | null,
): JsonSchema {
  const { options: declared, method, controller, handler } = endpoint;
  const body = describeRequestBody(endpoint, template);
  const scopes = acceptedTokenScopes(endpoint);
  return {
    operationId: options.nameOf?.(method, template) ?? handler + operationIdSuffix(template),
    summary: declared.about,
    tags: [chooseOperationTag(options, endpoint, template)],
    security: describeSecurity(endpoint, scopes),
    parameters: describeParameters(endpoint, template),
    ...(body === null ? {} : { requestBody: body }),
    responses: describeResponses(endpoint),
    ...(declared.deprecated === undefined && aliasOf === null ? {} : { deprecated: true }),
    'x-rookery-source': declared.source,
    'x-rookery-permission': declared.may.name,
    'x-rookery-handler': `${controller.name}.${handler}`,
    ...(endpoint.file === null ? {} : { 'x-rookery-file': endpoint.file }),
    'x-rookery-token-scopes': scopes ?? 'any',
    'x-rookery-body-limit': declared.body?.maxBytes ?? declared.bodyLimit ?? DEFAULT_BODY_LIMIT,
    ...(declared.deadlineMs === undefined ? {} : { 'x-rookery-deadline-ms': declared.deadlineMs }),
    ...describeStreamDirections(endpoint),
    ...(template.includes('*') ? { 'x-rookery-template': template } : {}),
    ...(aliasOf === null ? {} : { 'x-rookery-alias-of': aliasOf }),
    ...(declared.within ? { 'x-rookery-within': declared.within.kind } : {}),
  };
}

/** Lists each way to authenticate with each sufficient scope, plus an empty entry if anonymous callers are accepted. */
function describeSecurity(
  { method, options: { may } }: EndpointRecord,
  scopes: readonly string[] | null,
): JsonSchema[] {
  const ways = (scopes ?? [null]).flatMap((scope) => {
    const asked = scope === null ? [] : [scope];
    return [{ token: asked }, { bearer: asked }];
  });
  const isOpen = may.anonymous === 'asked' || (may.anonymous === 'reads' && method === 'GET');
  return isOpen ? [...ways, {}] : ways;
}

/** Returns the tag of an operation: its wing (possibly in a district), or else the last noun in its path. */
function chooseOperationTag({ service, nouns }: OpenApiOptions, { file }: EndpointRecord, template: string): string {
  const segments = template.split('/').filter((part) => /^[a-z]/.test(part) && part !== 'api' && part !== 'v4');
  const folders = /^apps\/[^/]+\/src\/(.+)\//.exec(file ?? '')?.[1]?.split('/') ?? [];
  const names = [...folders.slice(0, 2), ...segments.map((segment) => segment.replaceAll('_', '-')).reverse()];
  const noun = names.find((name) => name !== undefined && nouns !== undefined && Object.hasOwn(nouns, name));
  return toTag(noun ?? segments[0] ?? service);
}

function toTag(noun: string): string {
  const words = noun.replaceAll(/[-_]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function listTags(paths: Readonly<Record<string, object>>, nouns: Readonly<Record<string, string>>): JsonSchema[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods) as { tags: string[] }[]);
  const about = new Map(Object.entries(nouns).map(([noun, sentence]) => [toTag(noun), sentence]));
  return [...new Set(operations.flatMap(({ tags }) => tags))]
    .sort()
    .map((name) => ({ name, ...(about.has(name) ? { description: about.get(name) } : {}) }));
}

/** Suffix that distinguishes the operations of one handler by their paths. */
function operationIdSuffix(template: string): string {
  const stem = template.replace(/^\/api\/v4/, '').replace(/[^A-Za-z0-9]+/g, '_');
  return `.${stem.replace(/^_|_$/g, '')}`;
}

function describeParameters(endpoint: EndpointRecord, template: string): readonly JsonSchema[] {
  const { options, method } = endpoint;
  const names = pathParamNamesOf(template);
  const wildcard = wildcardNameOf(template);
  const fields = options.params ? fieldsOf(options.params) : [];
  const byName = new Map(fields.map((field) => [field.name, field]));
  const inPath = [...names].map((name) => {
    const field = byName.get(name);
    const shown = hoistDescription(
      field ? fieldSchema(field) : { type: name === wildcard ? 'string' : ['integer', 'string'] },
    );
    const ref = name === wildcard ? 'Full path' : 'Id or full path';
    const about = options.within?.param === name ? { description: `${ref} of the ${options.within.kind}.` } : {};
    return { name, in: 'path', required: true, ...shown, ...about, ...(name === wildcard ? WILDCARD : {}) };
  });
  const isQuery = method === 'GET' || method === 'DELETE';
  const elsewhere = new Set([...names, ...listHeaderOnlyNames(fields)]);
  const inQuery = isQuery ? fields.filter((field) => !elsewhere.has(field.name)).flatMap(queryParameters) : [];
  const declared = new Set(inQuery.map((parameter) => parameter['name']));
  const paging = pagingParameters(endpoint).filter(([name]) => !declared.has(name));
  return [
    ...inPath,
    ...inQuery,
    ...headerParameters(fields),
    ...paging.map(([, component]) => sharedParameter(component)),
    sharedParameter('Sudo'),
    ...(acceptsIdempotencyKey(endpoint) ? [sharedParameter('IdempotencyKey')] : []),
  ];
}

function listHeaderOnlyNames(fields: readonly FieldDeclaration[]): readonly string[] {
  return fields.filter((field) => field.common.in === 'header').map((field) => field.name);
}

function headerParameters(fields: readonly FieldDeclaration[]): readonly JsonSchema[] {
  return fields.flatMap((field) => {
    const { header } = field.common;
    return header === undefined ? [] : [{ name: header, in: 'header', ...hoistDescription(fieldSchema(field)) }];
  });
}

function queryParameters(field: FieldDeclaration): readonly JsonSchema[] {
  const { kind } = field.form;
  const listed = kind === 'list' || kind === 'hashes';
  const main = {
    name: listed ? `${field.name}[]` : field.name,
    in: 'query',
    ...(isRequired(field) ? { required: true } : {}),
    ...hoistDescription(fieldSchema(field)),
    ...(kind === 'hash' || kind === 'group' ? { style: 'deepObject', explode: true } : {}),
    ...(field.common.deprecated === undefined ? {} : { deprecated: true }),
  };
  const aliases = [field.common.alias ?? []].flat();
  return [
    main,
    ...aliases.map((name) => ({ name, in: 'query', deprecated: true, ...hoistDescription(fieldSchema(field)) })),
  ];
}

/** Moves the description out of the schema to the parameter, where generators read it. */
function hoistDescription({ description, ...schema }: JsonSchema): JsonSchema {
  return { ...(description === undefined ? {} : { description }), schema };
}

/** Returns the paging parameters of an endpoint, as pairs of name and component. */
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

/** Marks a path parameter that spans several segments, which OpenAPI cannot express. */
const WILDCARD = { 'x-rookery-wildcard': true };
const BYTES = { schema: { type: 'string', format: 'binary' } };

/** Directions in which the gateway forwards a stream. */
function describeStreamDirections({ options: { body, answers } }: EndpointRecord): JsonSchema {
  const streams = [...(body ? ['request'] : []), ...(answers.hasRanges || answers.isStreamed ? ['response'] : [])];
  return streams.length === 0 ? {} : { 'x-rookery-streams': streams };
}

function describeRequestBody({ options, method }: EndpointRecord, template: string): JsonSchema | null {
  if (options.body) {
    const types = options.body.types ?? ['application/octet-stream'];
    return { content: Object.fromEntries(types.map((type) => [type, BYTES])) };
  }
  if (method === 'GET' || method === 'DELETE' || !options.params) return null;
  const named = new Set([...pathParamNamesOf(template), ...listHeaderOnlyNames(fieldsOf(options.params))]);
  const uploads = fieldsOf(options.params).filter((field) => field.form.kind === 'upload');
  const whole = paramsSchema(options.params, named);
  if (Object.keys(whole['properties'] as object).length === 0) return null;
  const plain = paramsSchema(options.params, new Set([...named, ...uploads.map((field) => field.name)]));
  const removable = uploads.filter((field) => field.common.nullable).map((field) => [field.name, NO_FILE]);
  const schema = { ...plain, properties: { ...(plain['properties'] as object), ...Object.fromEntries(removable) } };
  // Every endpoint accepts multipart bodies. They are documented only where files may be sent, which need them.
  const carriesPlain = !uploads.some(isRequired) && Object.keys(schema.properties).length > 0;
  return {
    content: {
      ...(carriesPlain ? Object.fromEntries(BODY_TYPES.map((type) => [type, { schema }])) : {}),
      ...(uploads.length === 0 ? {} : { 'multipart/form-data': { schema: whole } }),
    },
  };
}

/** Replaces each reference to a presenter by a plain `$ref` and adds the presenter's schema to `schemas`. */
function replacePresentersByRefs(value: unknown, schemas: Map<string, JsonSchema>): unknown {
  if (Array.isArray(value)) return value.map((item) => replacePresentersByRefs(item, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const presenter = (value as JsonSchema)['x-presenter'];
  if (presenter instanceof Presenter) {
    addPresenterSchema(presenter as Presenter<never>, schemas);
    return { $ref: (value as JsonSchema)['$ref'] };
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, replacePresentersByRefs(item, schemas)]),
  );
}

const presentersOf = new WeakMap<Map<string, JsonSchema>, Map<string, Presenter<never>>>();

function addPresenterSchema(presenter: Presenter<never>, schemas: Map<string, JsonSchema>): void {
  const presenters = presentersOf.get(schemas) ?? new Map<string, Presenter<never>>();
  presentersOf.set(schemas, presenters);
  const known = presenters.get(presenter.name);
  if (known === presenter) return;
  presenters.set(presenter.name, presenter);
  const schema = replacePresentersByRefs(presenter.schema, schemas) as JsonSchema;
  if (known && JSON.stringify(schemas.get(presenter.name)) !== JSON.stringify(schema)) {
    throw new Error(`two presenters with different schemas are named ${presenter.name}`);
  }
  schemas.set(presenter.name, schema);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([name, item]) => [name, sortKeys(item)]));
}
