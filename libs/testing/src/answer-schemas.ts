import { openApiDocument } from '@rookery/api-v4';
import type { EndpointRecord } from '@rookery/api-v4';
import addFormats from 'ajv-formats';
import Ajv from 'ajv/dist/2020';
import type { ValidateFunction } from 'ajv/dist/2020';

type Json = Readonly<Record<string, unknown>>;
type Responses = Readonly<Record<string, Json>>;
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>;
  readonly components: Json & {
    readonly responses: Responses;
    readonly headers: Responses;
    readonly schemas: Readonly<Record<string, Json>>;
  };
}

/** What came back. Shape: `text` is '' without a body. */
export interface SeenAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: { get(name: string): string | null | undefined };
}

/** What is wrong with an answer; null when it is as it was told. */
type Judge = (method: string, answer: SeenAnswer) => string | null;

const newAjv = () => addFormats(new Ajv({ strict: false, allowUnionTypes: true, validateFormats: true }));
const ofEndpoints = newAjv();
const known = new Map<EndpointRecord, Map<number, Judge>>();

/**
 * What the document of an endpoint says against an answer: a status or a body that nothing tells of, fields that are
 * missing, of another type, or told by nobody, headers that are missing or of another type. Shape: null when they agree.
 */
export function answerProblem(endpoint: EndpointRecord, method: string, answer: SeenAnswer): string | null {
  const judges = known.get(endpoint) ?? new Map<number, Judge>();
  known.set(endpoint, judges);
  if (!judges.has(answer.status)) judges.set(answer.status, judgeOf(endpoint, answer.status));
  return judges.get(answer.status)!(method, answer);
}

function judgeOf(endpoint: EndpointRecord, status: number): Judge {
  const { paths, components } = openApiDocument({ service: 'test', version: '0', endpoints: [endpoint] }) as Document;
  const operation = Object.values(Object.values(paths)[0]!)[0]!;
  const { schemas } = components;
  return judgeBy(operation.responses[String(status)], components, (schema) =>
    ofEndpoints.compile({ ...closed(schema), components: closed({ schemas }) }),
  );
}

/**
 * What a whole document says against what was answered, for suites that see no endpoints. Refusals that any operation may
 * meet on the way to it need only be of a known shape. Shape: `path` without its query; null when they agree.
 */
export function documentJudge(document: object): (method: string, path: string, answer: SeenAnswer) => string | null {
  const { paths, components } = document as Document;
  const { schemas } = components;
  const own = newAjv().addSchema({ $id: 'document', components: closed({ schemas }) });
  const compiled = new Map<string, ValidateFunction>();
  const compile = (schema: Json): ValidateFunction => {
    const key = JSON.stringify(schema);
    const known = compiled.get(key) ?? own.compile(within(closed(schema)));
    compiled.set(key, known);
    return known;
  };
  const refusals = Object.keys(schemas).filter((name) => name.startsWith('Refusal'));
  const anyRefusal = compile({ anyOf: refusals.map((name) => ({ $ref: `#/components/schemas/${name}` })) });
  const templates = Object.keys(paths).map((template) => ({ template, parts: template.split('/') }));
  const judges = new Map<string, Judge>();
  return (given, path, answer) => {
    // `/features//name` is the same path.
    const [method, parts] = [given.toLowerCase(), path.replaceAll('//', '/').split('/')];
    const fits = templates.filter((one) => paths[one.template]![method] && isOf(one.parts, parts));
    // The most literal first, from the left, as the router has it.
    const rank = (one: { readonly parts: readonly string[] }): string => one.parts.map(isHole).map(Number).join('');
    const found = fits.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
    const response = found && paths[found.template]![method]!.responses[String(answer.status)];
    const key = `${method} ${found?.template ?? path} ${answer.status}`;
    if (!response) {
      const problem = answer.status < 400 ? NOT_TOLD : isJson(answer) ? bodyProblem(anyRefusal, answer.text) : null;
      return problem === null ? null : `${key}: ${problem}`;
    }
    if (!judges.has(key)) judges.set(key, judgeBy(response, components, compile));
    const problem = judges.get(key)!(given, answer);
    return problem === null ? null : `${key}: ${problem}`;
  };
}

const NOT_TOLD = 'its document does not tell of this status';
const JSON_TYPE = 'application/json';

function judgeBy(
  told: Json | undefined,
  components: Document['components'],
  compile: (schema: Json) => ValidateFunction,
): Judge {
  const response = resolved(told, components.responses);
  if (response === undefined) return () => NOT_TOLD;
  const content = (response['content'] ?? {}) as Readonly<Record<string, { readonly schema?: Json }>>;
  const headers = Object.entries((response['headers'] ?? {}) as Responses).map(
    ([name, header]) => [name, resolved(header, components.headers)!] as const,
  );
  const types = Object.keys(content);
  const schema = content[JSON_TYPE]?.schema;
  const validate = schema === undefined ? null : compile(schema);
  return (method, answer) => {
    const problem = headerProblem(headers, answer) ?? typeProblem(types, method, answer);
    if (problem !== null || answer.text === '' || validate === null || !isJson(answer)) return problem;
    return bodyProblem(validate, answer.text);
  };
}

const typeOf = ({ headers }: SeenAnswer): string => (headers.get('content-type') ?? '').split(';')[0]!;
const isJson = (answer: SeenAnswer): boolean => typeOf(answer) === JSON_TYPE && answer.text !== '';

function bodyProblem(validate: ValidateFunction, text: string): string | null {
  if (validate(JSON.parse(text))) return null;
  return ofEndpoints.errorsText(validate.errors, { dataVar: 'answer', separator: '; ' });
}

/** Files may be empty. */
function typeProblem(types: readonly string[], method: string, answer: SeenAnswer): string | null {
  if (answer.text === '') {
    const isTold = method !== 'HEAD' && types.length > 0 && types.every((type) => type === JSON_TYPE);
    return isTold ? 'it has no body, and its document tells of JSON' : null;
  }
  const type = typeOf(answer);
  if (types.some((one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))))) return null;
  return `its body is ${type || 'of no type'}, and its document tells of ${types.join(', ') || 'none'}`;
}

function headerProblem(headers: readonly (readonly [string, Json])[], answer: SeenAnswer): string | null {
  for (const [name, { required, schema }] of headers) {
    const value = answer.headers.get(name) ?? null;
    if (value === null && required === true) return `it lacks the header ${name}`;
    const isWhole = (schema as Json)['type'] === 'integer';
    if (value !== null && isWhole && !/^\d+$/.test(value)) return `its header ${name} is no whole number: ${value}`;
  }
  return null;
}

const isHole = (part: string): boolean => part.startsWith('{');

function isOf(template: readonly string[], path: readonly string[]): boolean {
  return template.length === path.length && template.every((part, index) => isHole(part) || part === path[index]);
}

/** The same schema, whose references lead into the one named `document`. */
function within<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')) as T;
}

function resolved(told: Json | undefined, among: Responses): Json | undefined {
  const name = /^#\/components\/\w+\/(.+)$/.exec((told?.['$ref'] as string | undefined) ?? '')?.[1];
  return name === undefined ? told : among[name];
}

/** The same schema, which takes no field that it does not name. */
function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map((item: unknown) => closed(item)) as T;
  if (schema === null || typeof schema !== 'object') return schema;
  const own = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value as unknown)]));
  const isObject = typeof own['properties'] === 'object' && [own['type']].flat().includes('object');
  return (isObject && !('additionalProperties' in own) ? { ...own, additionalProperties: false } : own) as T;
}
