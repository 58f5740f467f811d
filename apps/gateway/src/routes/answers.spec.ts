import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentJudge } from '@rookery/testing';

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
const judge = documentJudge(document);

const TEXTS: Readonly<Record<string, string>> = { 'date-time': '2026-01-02T03:04:05.006Z', date: '2026-01-02' };

function followed(schema: Schema): Schema {
  const ref = schema['$ref'] as string | undefined;
  if (ref === undefined) return schema;
  const [, , kind, name] = ref.split('/') as [string, string, 'schemas', string];
  return document.components[kind][name]!;
}

/** Something that fits, with every field; things within things are left out from a depth on where they may be. */
function sampleOf(given: Schema, depth = 0): unknown {
  const schema = followed(given);
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

/** Answers with JSON: what is judged, by operation and status. */
const answers = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId, responses }]) =>
    Object.entries(responses).flatMap(([status, told]) => {
      const response = followed(told);
      const content = response['content'] as Record<string, { schema?: Schema }> | undefined;
      const schema = content?.['application/json']?.schema;
      const headers = Object.entries((response['headers'] ?? {}) as Record<string, Schema>)
        .filter(([, header]) => followed(header)['required'] === true)
        .map(([name]): [string, string] => [name, '1']);
      return schema === undefined || operationId === 'getOpenApiDocument'
        ? []
        : [{ name: `${operationId} ${status}`, method, path, status: Number(status), schema, headers }];
    }),
  ),
);
type Told = (typeof answers)[number];

function problemOf({ method, path, status, headers }: Told, body: unknown, type = 'application/json'): string | null {
  const told = new Headers([['content-type', type], ...headers]);
  return judge(method, path, { status, headers: told, text: JSON.stringify(body) });
}

type Change = (thing: Record<string, unknown>, required: string) => Record<string, unknown>;
const CHANGES: Readonly<Record<string, Change>> = {
  'a field more': (thing) => ({ ...thing, a_field_that_nobody_told: 1 }),
  'one that is always there left out': (thing, name) =>
    Object.fromEntries(Object.entries(thing).filter(([key]) => key !== name)),
  'one of another type': (thing, name) => ({ ...thing, [name]: [[]] }),
};

/** Of every thing within a sample: the sample with that one changed. */
function* changed(schema: Schema, sample: unknown, change: Change): Generator<unknown> {
  const own = followed(schema);
  if (Array.isArray(sample)) {
    for (const item of sample) for (const one of changed(own['items'] as Schema, item, change)) yield [one];
    return;
  }
  if (own['anyOf']) {
    yield* changed((own['anyOf'] as Schema[])[0]!, sample, change);
    return;
  }
  const fields = own['properties'] as Record<string, Schema> | undefined;
  if (fields === undefined || sample === null || typeof sample !== 'object') return;
  const thing = sample as Record<string, unknown>;
  const required = ((own['required'] ?? []) as string[])[0];
  if (required !== undefined) yield change(thing, required);
  for (const [name, value] of Object.entries(thing)) {
    for (const one of changed(fields[name]!, value, change)) yield { ...thing, [name]: one };
  }
}

/** What suites hold answers against finds what is wrong with any of them: nothing in the document is open. */
describe('answers of the whole document', () => {
  it('are told of', () => expect(answers.length).toBeGreaterThan(1000));

  it('pass as they are told', () => {
    const refused = answers.map((told) => [told.name, problemOf(told, sampleOf(told.schema))]);
    expect(refused.filter(([, problem]) => problem !== null)).toEqual([]);
  });

  it.each(Object.entries(CHANGES))('do not pass with %s, at any depth', (_, change) => {
    const kinds = new Map(answers.map((told) => [JSON.stringify(told.schema), told]));
    const passed: unknown[] = [];
    let tried = 0;
    for (const told of kinds.values()) {
      for (const one of changed(told.schema, sampleOf(told.schema), change)) {
        tried += 1;
        if (problemOf(told, one) === null) passed.push([told.name, one]);
      }
    }
    expect(passed).toEqual([]);
    expect(tried).toBeGreaterThan(300);
  });

  it('do not pass in another type, nor without the headers that they always have', () => {
    const passed = answers.filter((told) => {
      const body = sampleOf(told.schema);
      const isOtherwise = problemOf(told, body, 'application/xml') === null;
      return isOtherwise || (told.headers.length > 0 && problemOf({ ...told, headers: [] }, body) === null);
    });
    expect(passed.map(({ name }) => name)).toEqual([]);
  });
});
