import { openApiDocument } from '@rookery/api-v4';
import type { EndpointRecord } from '@rookery/api-v4';
import addFormats from 'ajv-formats';
import Ajv from 'ajv/dist/2020';
import type { ValidateFunction } from 'ajv/dist/2020';

type Json = Readonly<Record<string, unknown>>;
interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Json>> }>>>
  >;
  readonly components: Json & { readonly responses: Readonly<Record<string, Json>> };
}

const ajv = addFormats(new Ajv({ strict: false, allowUnionTypes: true, validateFormats: true }));
const known = new Map<EndpointRecord, Map<number, ValidateFunction | null>>();

/**
 * What the document of an endpoint says against the JSON that it answered: fields that are missing, of another type, or
 * told by nobody. Shape: null when they agree, or when the document names no JSON for the status.
 */
export function schemaProblem(endpoint: EndpointRecord, status: number, body: unknown): string | null {
  const validators = known.get(endpoint) ?? new Map<number, ValidateFunction | null>();
  known.set(endpoint, validators);
  if (!validators.has(status)) validators.set(status, validatorOf(endpoint, status));
  const validate = validators.get(status)!;
  if (validate === null || validate(body)) return null;
  return ajv.errorsText(validate.errors, { dataVar: 'answer', separator: '; ' });
}

function validatorOf(endpoint: EndpointRecord, status: number): ValidateFunction | null {
  const { paths, components } = openApiDocument({ service: 'test', version: '0', endpoints: [endpoint] }) as Document;
  const operation = Object.values(Object.values(paths)[0]!)[0]!;
  const schema = jsonOf(resolved(operation.responses[String(status)], components));
  return schema === null ? null : ajv.compile({ ...closed(schema), components: closed(components) });
}

function resolved(response: Json | undefined, components: Document['components']): Json | undefined {
  const name = /^#\/components\/responses\/(.+)$/.exec((response?.['$ref'] as string | undefined) ?? '')?.[1];
  return name === undefined ? response : components.responses[name];
}

function jsonOf(response: Json | undefined): Json | null {
  const content = response?.['content'] as Readonly<Record<string, { readonly schema?: Json }>> | undefined;
  return content?.['application/json']?.schema ?? null;
}

/** The same schema, which takes no field that it does not name. */
function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map((item: unknown) => closed(item)) as T;
  if (schema === null || typeof schema !== 'object') return schema;
  const own = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value as unknown)]));
  const isObject = typeof own['properties'] === 'object' && own['type'] === 'object';
  return (isObject && !('additionalProperties' in own) ? { ...own, additionalProperties: false } : own) as T;
}
