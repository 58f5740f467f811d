import { openApiDocument } from '@rookery/api-v4';
import type { EndpointRecord } from '@rookery/api-v4';
import addFormats from 'ajv-formats';
import Ajv from 'ajv/dist/2020';
import type { ValidateFunction } from 'ajv/dist/2020';

type JsonObject = Readonly<Record<string, unknown>>;
type ObjectsByName = Readonly<Record<string, JsonObject>>;
interface OpenApiOperation {
  readonly responses: ObjectsByName;
  /** Template of a path with a wildcard, which OpenAPI cannot express. */
  readonly 'x-rookery-template'?: string;
}
interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: JsonObject & {
    readonly responses: ObjectsByName;
    readonly headers: ObjectsByName;
    readonly schemas: Readonly<Record<string, JsonObject>>;
  };
}

/** An answer to check. `text` is empty for an answer without a body. */
export interface SeenAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: { get(name: string): string | null | undefined };
}

/** Returns the problem of an answer; null if it is as documented. */
type AnswerCheck = (method: string, answer: SeenAnswer) => string | null;

const createAjv = () => addFormats(new Ajv({ strict: false, allowUnionTypes: true, validateFormats: true }));
/**
 * Compiled schemas of endpoints, by their JSON. They are kept at the package, which a worker of jest loads once for all
 * its spec files, while this module is evaluated for each of them (ADR 0015).
 */
const ofEndpoints: { readonly ajv: Ajv; readonly compiled: Map<string, ValidateFunction> } = ((
  Ajv as unknown as Record<symbol, typeof ofEndpoints>
)[Symbol.for('rookery.answer-schemas')] ??= { ajv: createAjv(), compiled: new Map() });
const known = new Map<EndpointRecord, Map<number, AnswerCheck>>();

/**
 * Checks an answer against the document of its endpoint: its status, its media type, missing, undocumented or mistyped
 * fields, missing or mistyped headers. Returns the problem, or null.
 */
export function answerProblem(endpoint: EndpointRecord, method: string, answer: SeenAnswer): string | null {
  const checks = known.get(endpoint) ?? new Map<number, AnswerCheck>();
  known.set(endpoint, checks);
  if (!checks.has(answer.status)) checks.set(answer.status, createEndpointCheck(endpoint, answer.status));
  return checks.get(answer.status)!(method, answer);
}

function createEndpointCheck(endpoint: EndpointRecord, status: number): AnswerCheck {
  const { paths, components } = openApiDocument({
    service: 'test',
    version: '0',
    endpoints: [endpoint],
  }) as OpenApiDocument;
  const operation = Object.values(Object.values(paths)[0]!)[0]!;
  const { schemas } = components;
  return createAnswerCheck(operation.responses[String(status)], components, (schema) => {
    const whole = { ...forbidAdditionalProperties(schema), components: forbidAdditionalProperties({ schemas }) };
    const key = JSON.stringify(whole);
    const validate = ofEndpoints.compiled.get(key) ?? ofEndpoints.ajv.compile(whole);
    ofEndpoints.compiled.set(key, validate);
    return validate;
  });
}

/**
 * Returns a checker for answers by a whole document, for suites without endpoints. A refusal before an operation is
 * found needs only a documented schema of a refusal. The checker takes a `path` without its query and returns the
 * problem, or null.
 */
export function documentChecker(document: object): (method: string, path: string, answer: SeenAnswer) => string | null {
  const { paths, components } = document as OpenApiDocument;
  const { schemas } = components;
  const own = createAjv().addSchema({ $id: 'document', components: forbidAdditionalProperties({ schemas }) });
  const compiled = new Map<string, ValidateFunction>();
  const compile = (schema: JsonObject): ValidateFunction => {
    const key = JSON.stringify(schema);
    const known = compiled.get(key) ?? own.compile(withDocumentRefs(forbidAdditionalProperties(schema)));
    compiled.set(key, known);
    return known;
  };
  const refusals = Object.keys(schemas).filter((name) => name.startsWith('Refusal'));
  const anyRefusal = compile({ anyOf: refusals.map((name) => ({ $ref: `#/components/schemas/${name}` })) });
  const templates = Object.keys(paths).map((template) => ({ template, parts: template.split('/') }));
  const checks = new Map<string, AnswerCheck>();
  return (given, path, answer) => {
    // `/features//name` is the same path, and so is one with a slash at its end.
    // HEAD is documented as the GET that it repeats.
    const method = given === 'HEAD' ? 'get' : given.toLowerCase();
    const plain = path.replaceAll('//', '/').replace(/\/$/, '');
    const parts = plain.split('/');
    const candidates = templates.filter((one) => paths[one.template]![method]);
    const named = candidates.filter((one) => matchesTemplate(one.parts, parts));
    // A path with a wildcard takes what no other path takes.
    const fits =
      named.length > 0
        ? named
        : candidates.filter((one) =>
            matchesWildcardTemplate(paths[one.template]![method]!['x-rookery-template'], plain),
          );
    // The most literal template first, from the left, as in the router.
    const rank = (one: { readonly parts: readonly string[] }): string =>
      one.parts.map(isParameterPart).map(Number).join('');
    const found = fits.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
    const response = found && paths[found.template]![method]!.responses[String(answer.status)];
    const key = `${method} ${found?.template ?? path} ${answer.status}`;
    if (!response) {
      const problem =
        answer.status < 400 ? NOT_LISTED : isJson(answer) ? findBodyProblem(anyRefusal, answer.text) : null;
      return problem === null ? null : `${key}: ${problem}`;
    }
    if (!checks.has(key)) checks.set(key, createAnswerCheck(response, components, compile));
    const problem = checks.get(key)!(given, answer);
    return problem === null ? null : `${key}: ${problem}`;
  };
}

const NOT_LISTED = 'its document does not list this status';
const JSON_TYPE = 'application/json';

function createAnswerCheck(
  documented: JsonObject | undefined,
  components: OpenApiDocument['components'],
  compile: (schema: JsonObject) => ValidateFunction,
): AnswerCheck {
  const response = resolveRef(documented, components.responses);
  if (response === undefined) return () => NOT_LISTED;
  const content = (response['content'] ?? {}) as Readonly<Record<string, { readonly schema?: JsonObject }>>;
  const headers = Object.entries((response['headers'] ?? {}) as ObjectsByName).map(
    ([name, header]) => [name, resolveRef(header, components.headers)!] as const,
  );
  const types = Object.keys(content);
  const schema = content[JSON_TYPE]?.schema;
  const validate = schema === undefined ? null : compile(schema);
  return (method, answer) => {
    const problem = findHeaderProblem(headers, answer) ?? findMediaTypeProblem(types, method, answer);
    if (problem !== null || answer.text === '' || validate === null || !isJson(answer)) return problem;
    return findBodyProblem(validate, answer.text);
  };
}

const mediaTypeOfAnswer = ({ headers }: SeenAnswer): string => (headers.get('content-type') ?? '').split(';')[0]!;
const isJson = (answer: SeenAnswer): boolean => mediaTypeOfAnswer(answer) === JSON_TYPE && answer.text !== '';

function findBodyProblem(validate: ValidateFunction, text: string): string | null {
  if (validate(JSON.parse(text))) return null;
  return ofEndpoints.ajv.errorsText(validate.errors, { dataVar: 'answer', separator: '; ' });
}

/** An answer without a body is allowed unless JSON is documented. */
function findMediaTypeProblem(types: readonly string[], method: string, answer: SeenAnswer): string | null {
  if (answer.text === '') {
    const isJsonDocumented = method !== 'HEAD' && types.length > 0 && types.every((type) => type === JSON_TYPE);
    return isJsonDocumented ? 'it has no body, and its document lists JSON' : null;
  }
  const type = mediaTypeOfAnswer(answer);
  if (types.some((one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))))) return null;
  return `its body is ${type || 'of no type'}, and its document lists ${types.join(', ') || 'none'}`;
}

function findHeaderProblem(headers: readonly (readonly [string, JsonObject])[], answer: SeenAnswer): string | null {
  for (const [name, { required, schema }] of headers) {
    const value = answer.headers.get(name) ?? null;
    if (value === null && required === true) return `it lacks the header ${name}`;
    const isInteger = (schema as JsonObject)['type'] === 'integer';
    if (value !== null && isInteger && !/^\d+$/.test(value)) return `its header ${name} is not an integer: ${value}`;
  }
  return null;
}

const isParameterPart = (part: string): boolean => part.includes('{');

/** A parameter fills a segment or the end of one, as in `archive.{format}`. */
const canSegmentFillPart = (part: string, segment: string): boolean => {
  const prefix = part.slice(0, part.indexOf('{'));
  return isParameterPart(part) && segment.startsWith(prefix) && segment.length > prefix.length;
};

function matchesTemplate(template: readonly string[], path: readonly string[]): boolean {
  return (
    template.length === path.length &&
    template.every((part, index) => part === path[index] || canSegmentFillPart(part, path[index]!))
  );
}

/** Whether a template has a wildcard, which takes one segment or more, and fits a path. */
function matchesWildcardTemplate(template: string | undefined, path: string): boolean {
  if (template === undefined) return false;
  const text = template
    .replace(/[.?+^${}()|[\]\\]/g, '\\$&')
    .replace(/:[A-Za-z_]\w*/g, '[^/]+')
    .replace(/\*[A-Za-z_]\w*/g, '.+');
  return new RegExp(`^${text}$`).test(path);
}

/** Returns the schema with its references pointing into the document that is registered as `document`. */
function withDocumentRefs<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')) as T;
}

function resolveRef(schema: JsonObject | undefined, among: ObjectsByName): JsonObject | undefined {
  const name = /^#\/components\/\w+\/(.+)$/.exec((schema?.['$ref'] as string | undefined) ?? '')?.[1];
  return name === undefined ? schema : among[name];
}

/** Returns the schema with additional properties forbidden. */
function forbidAdditionalProperties<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map((item: unknown) => forbidAdditionalProperties(item)) as T;
  if (schema === null || typeof schema !== 'object') return schema;
  const own = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, forbidAdditionalProperties(value as unknown)]),
  );
  const isObject = typeof own['properties'] === 'object' && [own['type']].flat().includes('object');
  return (isObject && !('additionalProperties' in own) ? { ...own, additionalProperties: false } : own) as T;
}
