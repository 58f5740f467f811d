import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentChecker } from '@rookery/testing';

type Schema = Readonly<Record<string, unknown>>;
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<'schemas' | 'responses' | 'headers', Readonly<Record<string, Schema>>>>;
}
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Schema>>;
}

const document = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as Document;
const check = documentChecker(document);

const TEXTS: Readonly<Record<string, string>> = { 'date-time': '2026-01-02T03:04:05.006Z', date: '2026-01-02' };

function resolveReference(schema: Schema): Schema {
  const ref = schema['$ref'] as string | undefined;
  if (ref === undefined) return schema;
  const [, , kind, name] = ref.split('/') as [string, string, 'schemas', string];
  return document.components[kind][name]!;
}

/** A valid sample with every field; nested values are omitted below a depth where the schema allows it. */
function sampleOf(given: Schema, depth = 0): unknown {
  const schema = resolveReference(given);
  if ('const' in schema) return schema['const'];
  if ('enum' in schema) return (schema['enum'] as unknown[])[0];
  const anyOf = schema['anyOf'] as Schema[] | undefined;
  const orNull = [schema['type']].flat().includes('null') || anyOf?.some(({ type }) => type === 'null') === true;
  if (depth > 4 && orNull) return null;
  if (anyOf) return sampleOf(anyOf[0]!, depth);
  switch ([schema['type']].flat()[0]) {
    case 'object': {
      const required = (schema['required'] ?? []) as string[];
      const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
      const shown = fields.filter(([name]) => depth <= 4 || required.includes(name));
      return Object.fromEntries(shown.map(([name, field]) => [name, sampleOf(field, depth + 1)]));
    }
    case 'array':
      return depth > 4 || schema['maxItems'] === 0 ? [] : [sampleOf(schema['items'] as Schema, depth + 1)];
    case 'string':
      return TEXTS[schema['format'] as string] ?? 'x';
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 1;
  }
}

/** JSON answers of the document, by operation and status. */
const answers = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId, responses }]) =>
    Object.entries(responses).flatMap(([status, answer]) => {
      const response = resolveReference(answer);
      const content = response['content'] as Record<string, { schema?: Schema }> | undefined;
      const schema = content?.['application/json']?.schema;
      const headers = Object.entries((response['headers'] ?? {}) as Record<string, Schema>)
        .filter(([, header]) => resolveReference(header)['required'] === true)
        .map(([name]): [string, string] => [name, '1']);
      return schema === undefined || ['getOpenApiDocument', 'getAsyncApiDocument'].includes(operationId)
        ? []
        : [{ name: `${operationId} ${status}`, method, path, status: Number(status), schema, headers }];
    }),
  ),
);
type Answer = (typeof answers)[number];

function findAnswerProblem(
  { method, path, status, headers }: Answer,
  body: unknown,
  type = 'application/json',
): string | null {
  const all = new Headers([['content-type', type], ...headers]);
  return check(method, path, { status, headers: all, text: JSON.stringify(body) });
}

type ChangeObject = (value: Record<string, unknown>, required: string) => Record<string, unknown>;
const CHANGES: Readonly<Record<string, ChangeObject>> = {
  'an additional field': (value) => ({ ...value, an_undeclared_field: 1 }),
  'a required field removed': (value, name) =>
    Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)),
  'a field of another type': (value, name) => ({ ...value, [name]: [[]] }),
};

/** For each object in a sample: the sample with that object changed. */
function* variantsOfSample(schema: Schema, sample: unknown, change: ChangeObject): Generator<unknown> {
  const own = resolveReference(schema);
  if (Array.isArray(sample)) {
    for (const item of sample) for (const one of variantsOfSample(own['items'] as Schema, item, change)) yield [one];
    return;
  }
  if (own['anyOf']) {
    yield* variantsOfSample((own['anyOf'] as Schema[])[0]!, sample, change);
    return;
  }
  const fields = own['properties'] as Record<string, Schema> | undefined;
  if (fields === undefined || sample === null || typeof sample !== 'object') return;
  const object = sample as Record<string, unknown>;
  const required = ((own['required'] ?? []) as string[])[0];
  if (required !== undefined) yield change(object, required);
  for (const [name, value] of Object.entries(object)) {
    for (const one of variantsOfSample(fields[name]!, value, change)) yield { ...object, [name]: one };
  }
}

/** The checker that suites use finds every deviation: the document has no open schemas. */
describe('answers of the whole document', () => {
  it('are in the document', () => expect(answers.length).toBeGreaterThan(1000));

  it('pass if they follow the document', () => {
    const refused = answers.map((answer) => [answer.name, findAnswerProblem(answer, sampleOf(answer.schema))]);
    expect(refused.filter(([, problem]) => problem !== null)).toEqual([]);
  });

  it.each(Object.entries(CHANGES))('fail with %s, at any depth', (_, change) => {
    const kinds = new Map(answers.map((answer) => [JSON.stringify(answer.schema), answer]));
    const passed: unknown[] = [];
    let tried = 0;
    for (const answer of kinds.values()) {
      for (const one of variantsOfSample(answer.schema, sampleOf(answer.schema), change)) {
        tried += 1;
        if (findAnswerProblem(answer, one) === null) passed.push([answer.name, one]);
      }
    }
    expect(passed).toEqual([]);
    expect(tried).toBeGreaterThan(300);
  });

  it('fail with another media type or without their required headers', () => {
    const passed = answers.filter((answer) => {
      const body = sampleOf(answer.schema);
      const isOtherwise = findAnswerProblem(answer, body, 'application/xml') === null;
      return isOtherwise || (answer.headers.length > 0 && findAnswerProblem({ ...answer, headers: [] }, body) === null);
    });
    expect(passed.map(({ name }) => name)).toEqual([]);
  });
});
