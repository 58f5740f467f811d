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

const newAjv = () => addFormats(new Ajv({ strict: false, allowUnionTypes: true, validateFormats: true }));
const ajv = newAjv();
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

/**
 * What a whole document says against JSON that was answered, for suites that see no endpoints. Shape: `path` without its
 * query; null when they agree, or when no operation is found for it.
 */
export function documentJudge(
  document: object,
): (method: string, path: string, status: number, body: unknown) => string | null {
  const { paths, components } = document as Document;
  const own = newAjv().addSchema({ $id: 'document', components: closed({ schemas: components['schemas'] }) });
  const templates = Object.keys(paths).map((template) => ({ template, parts: template.split('/') }));
  const validators = new Map<string, ValidateFunction | null>();
  const validator = (template: string, method: string, status: number): ValidateFunction | null => {
    const schema = jsonOf(resolved(paths[template]![method]!.responses[String(status)], components));
    return schema === null ? null : own.compile(within(closed(schema)));
  };
  return (given, path, status, body) => {
    const [method, parts] = [given.toLowerCase(), path.split('/')];
    const fits = templates.filter((one) => paths[one.template]![method] && isOf(one.parts, parts));
    // The most literal first, from the left, as the router has it.
    const rank = (one: { readonly parts: readonly string[] }): string => one.parts.map(isHole).map(Number).join('');
    const found = fits.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
    if (found === undefined) return null;
    const key = `${method} ${found.template} ${status}`;
    if (!validators.has(key)) validators.set(key, validator(found.template, method, status));
    const validate = validators.get(key)!;
    if (validate === null) return status < 400 ? `${key}: its document tells of no JSON` : null;
    if (validate(body)) return null;
    return `${key}: ${ajv.errorsText(validate.errors, { dataVar: 'answer', separator: '; ' })}`;
  };
}

const isHole = (part: string): boolean => part.startsWith('{');

function isOf(template: readonly string[], path: readonly string[]): boolean {
  return template.length === path.length && template.every((part, index) => isHole(part) || part === path[index]);
}

/** The same schema, whose references lead into the one named `document`. */
function within<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')) as T;
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
  const isObject = typeof own['properties'] === 'object' && [own['type']].flat().includes('object');
  return (isObject && !('additionalProperties' in own) ? { ...own, additionalProperties: false } : own) as T;
}
