import type { JsonSchema } from './answers';
import type { PresentContext, Presenter } from './presenter';
import { findFieldDescription } from './field-descriptions';

/** Renders one value as JSON text. */
export type WriteValue = (value: unknown, ctx: PresentContext) => string;

/**
 * Type of an output field: its JSON schema and its rendering. `batch` is set when the rendering needs a presenter that
 * loads data: the values of all rows are collected, loaded once, and then rendered one by one.
 */
export interface FieldType<V> {
  readonly schema: JsonSchema;
  readonly write: WriteValue;
  readonly batch?: (values: readonly unknown[], ctx: PresentContext) => Promise<WriteValue>;
  /** Exists only for type inference. */
  readonly holds?: (value: V) => void;
}

// Characters that JSON must escape, and lone surrogates, which only JSON.stringify writes well-formed.
const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;

function encodeTextAsJson(value: unknown): string {
  if (typeof value !== 'string') return value === null || value === undefined ? 'null' : JSON.stringify(String(value));
  // For long texts the native writer is faster than scanning twice.
  return value.length < 64 && !NEEDS_ESCAPE.test(value) ? `"${value}"` : JSON.stringify(value);
}

function encodeNumberAsJson(value: unknown): string {
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : 'null';
}

function encodeInstantAsJson(value: unknown): string {
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (typeof value !== 'string') return 'null';
  // Texts from instantSql already have this form; others are converted.
  return value.length === 24 && value.endsWith('Z') ? `"${value}"` : `"${new Date(value).toISOString()}"`;
}

function encodeDayAsJson(value: unknown): string {
  if (value instanceof Date) return `"${value.toISOString().slice(0, 10)}"`;
  return typeof value === 'string' ? `"${value.slice(0, 10)}"` : 'null';
}

/** A safe integer. */
export const int: FieldType<number> = { schema: { type: 'integer' }, write: encodeNumberAsJson };
export const number: FieldType<number> = { schema: { type: 'number' }, write: encodeNumberAsJson };
export const text: FieldType<string> = { schema: { type: 'string' }, write: encodeTextAsJson };
export const bool: FieldType<boolean> = {
  schema: { type: 'boolean' },
  write: (value) => (value === true ? 'true' : value === false ? 'false' : 'null'),
};
/** Written as ISO 8601, UTC, milliseconds. A text must be of that form already (PostgreSQL's `instantSql`). */
export const instant: FieldType<Date | string> = {
  schema: { type: 'string', format: 'date-time' },
  write: encodeInstantAsJson,
};
/** A calendar day, `YYYY-MM-DD`. */
export const day: FieldType<Date | string> = { schema: { type: 'string', format: 'date' }, write: encodeDayAsJson };
/** Always null: a field that the API has but Rookery does not support. */
export const alwaysNull: FieldType<null> = { schema: { type: 'null' }, write: () => 'null' };
/** Always an empty list: a list that the API has but Rookery does not support. */
export const alwaysEmptyList: FieldType<readonly never[]> = {
  schema: { type: 'array', items: {}, maxItems: 0 },
  write: () => '[]',
};

/** A text of an enumeration. */
export function choice<const C extends string>(...values: readonly C[]): FieldType<C> {
  return { schema: { type: 'string', enum: [...values] }, write: encodeTextAsJson };
}

/** Renders null and missing values as null. */
export function nullable<V>(of: FieldType<V>): FieldType<V | null | undefined> {
  const orNull =
    (write: WriteValue): WriteValue =>
    (value, ctx) =>
      value === null || value === undefined ? 'null' : write(value, ctx);
  const batch = of.batch;
  return {
    schema: nullableSchema(of.schema),
    write: orNull(of.write),
    ...(batch
      ? {
          batch: async (values, ctx) =>
            orNull(
              await batch(
                values.filter((value) => value !== null && value !== undefined),
                ctx,
              ),
            ),
        }
      : {}),
  };
}

function nullableSchema(schema: JsonSchema): JsonSchema {
  const type = schema['type'];
  if (typeof type === 'string' && !('enum' in schema)) return { ...schema, type: [type, 'null'] };
  return { anyOf: [schema, { type: 'null' }] };
}

/** A JSON array. */
export function list<V>(of: FieldType<V>): FieldType<readonly V[]> {
  const each =
    (write: WriteValue): WriteValue =>
    (value, ctx) =>
      Array.isArray(value) ? `[${value.map((item) => write(item, ctx)).join(',')}]` : '[]';
  const batch = of.batch;
  return {
    schema: { type: 'array', items: of.schema },
    write: each(of.write),
    ...(batch
      ? {
          batch: async (values, ctx) =>
            each(
              await batch(
                values.flatMap((value) => (Array.isArray(value) ? value : [])),
                ctx,
              ),
            ),
        }
      : {}),
  };
}

/** A nested object with these fields, in this order. Fields in `sometimes` are omitted when they are undefined. */
export function object<V extends Record<string, unknown>, S extends Record<string, unknown> = Record<never, never>>(
  fields: { readonly [K in keyof V]: FieldType<V[K]> },
  sometimes?: { readonly [K in keyof S]: FieldType<S[K]> },
): FieldType<V & { readonly [K in keyof S]?: S[K] | undefined }> {
  const always = Object.entries<FieldType<never>>(fields as Record<string, FieldType<never>>);
  const entries = [
    ...always,
    ...Object.entries<FieldType<never>>((sometimes ?? {}) as Record<string, FieldType<never>>),
  ];
  const compose = (writers: readonly WriteValue[]): WriteValue => {
    const heads = entries.map(([name]) => `${JSON.stringify(name)}:`);
    return (value, ctx) => {
      let out = '';
      for (let i = 0; i < entries.length; i++) {
        const field = (value as Record<string, unknown>)[entries[i]![0]];
        if (i >= always.length && field === undefined) continue;
        out += (out === '' ? '{' : ',') + heads[i]! + writers[i]!(field, ctx);
      }
      return out === '' ? '{}' : `${out}}`;
    };
  };
  const loads = entries.some(([, type]) => type.batch !== undefined);
  const batchAll = async (values: readonly unknown[], ctx: PresentContext): Promise<WriteValue> =>
    compose(
      await Promise.all(
        entries.map(([name, type]) =>
          type.batch
            ? type.batch(
                values.map((value) => (value as Record<string, unknown>)[name]),
                ctx,
              )
            : Promise.resolve(type.write),
        ),
      ),
    );
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, type]) => [name, withFieldDescription(name, type.schema)])),
      required: always.map(([name]) => name),
    },
    write: compose(entries.map(([, type]) => type.write)),
    ...(loads ? { batch: batchAll } : {}),
  };
}

function withFieldDescription(fieldName: string, schema: JsonSchema): JsonSchema {
  const word = findFieldDescription(fieldName);
  return word === undefined ? schema : { description: word, ...schema };
}

/** An object with any keys, whose values have one type. */
export function mapOf<V>(of: FieldType<V>): FieldType<Readonly<Record<string, V>>> {
  return {
    schema: { type: 'object', additionalProperties: of.schema },
    write: (value, ctx) =>
      `{${Object.entries((value ?? {}) as Record<string, unknown>)
        .map(([name, item]) => `${JSON.stringify(name)}:${of.write(item, ctx)}`)
        .join(',')}}`,
  };
}

/** Renders a value with another presenter, which loads its data once for the whole page. */
export function nested<T>(presenter: Presenter<T>): FieldType<T> {
  return presenter.asField();
}
