/**
 * A small schema language from which both the TypeScript type and the JSON schema of an event derive. Events carry ids
 * and facts only, so this is enough. It has no dependency, so every package can import a contract.
 */
export type Schema =
  | { readonly kind: 'int' | 'text' | 'bool' | 'instant' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'nullable'; readonly of: Schema }
  | { readonly kind: 'optional'; readonly of: Schema }
  | { readonly kind: 'list'; readonly of: Schema }
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, Schema>> };

export type Infer<S> = S extends { kind: 'int' }
  ? number
  : S extends { kind: 'text' | 'instant' }
    ? string
    : S extends { kind: 'bool' }
      ? boolean
      : S extends { kind: 'choice'; values: readonly (infer V)[] }
        ? V
        : S extends { kind: 'nullable'; of: infer O }
          ? Infer<O> | null
          : S extends { kind: 'optional'; of: infer O }
            ? Infer<O> | undefined
            : S extends { kind: 'list'; of: infer O }
              ? Infer<O>[]
              : S extends { kind: 'object'; fields: infer F }
                ? { -readonly [K in keyof F as F[K] extends { kind: 'optional' } ? never : K]: Infer<F[K]> } & {
                    -readonly [K in keyof F as F[K] extends { kind: 'optional' } ? K : never]?: Infer<F[K]>;
                  }
                : never;

export const int = { kind: 'int' } as const;
/** A short fact such as a username or a path; never a body. */
export const text = { kind: 'text' } as const;
export const bool = { kind: 'bool' } as const;
/** ISO 8601, UTC, milliseconds. */
export const instant = { kind: 'instant' } as const;
export const choice = <const V extends readonly string[]>(...values: V) => ({ kind: 'choice', values }) as const;
export const nullable = <const S extends Schema>(schema: S) => ({ kind: 'nullable', of: schema }) as const;
/** A field that was added to an event later: events of older producers lack it. */
export const optional = <const S extends Schema>(schema: S) => ({ kind: 'optional', of: schema }) as const;
export const list = <const S extends Schema>(itemSchema: S) => ({ kind: 'list', of: itemSchema }) as const;
export const object = <const F extends Readonly<Record<string, Schema>>>(fieldSchemas: F) =>
  ({ kind: 'object', fields: fieldSchemas }) as const;

/**
 * Problems of a value, as paths and reasons; an empty list means that the value is valid. Unknown fields are ignored:
 * a reader must accept events of newer producers (reference reliability 2.5).
 */
export function problemsOf(schema: Schema, value: unknown, path = '$'): string[] {
  switch (schema.kind) {
    case 'int':
      return Number.isSafeInteger(value) ? [] : [`${path} is not an integer`];
    case 'text':
      return typeof value === 'string' ? [] : [`${path} is not a text`];
    case 'bool':
      return typeof value === 'boolean' ? [] : [`${path} is not a boolean`];
    case 'instant':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? [] : [`${path} is not an instant`];
    case 'choice':
      return schema.values.includes(value as string) ? [] : [`${path} is not one of ${schema.values.join(', ')}`];
    case 'nullable':
      return value === null ? [] : problemsOf(schema.of, value, path);
    case 'optional':
      return value === undefined ? [] : problemsOf(schema.of, value, path);
    case 'list':
      return Array.isArray(value)
        ? value.flatMap((item, index) => problemsOf(schema.of, item, `${path}[${index}]`))
        : [`${path} is not a list`];
    case 'object': {
      if (typeof value !== 'object' || value === null) return [`${path} is not an object`];
      const record = value as Record<string, unknown>;
      return Object.entries(schema.fields).flatMap(([name, field]) =>
        problemsOf(field, record[name], `${path}.${name}`),
      );
    }
  }
}

/** The JSON schema of a schema, for the AsyncAPI document. */
export function jsonSchemaOf(schema: Schema): Record<string, unknown> {
  switch (schema.kind) {
    case 'int':
      return { type: 'integer' };
    case 'text':
      return { type: 'string' };
    case 'bool':
      return { type: 'boolean' };
    case 'instant':
      return { type: 'string', format: 'date-time' };
    case 'choice':
      return { type: 'string', enum: [...schema.values] };
    case 'nullable':
      return { anyOf: [jsonSchemaOf(schema.of), { type: 'null' }] };
    case 'optional':
      return jsonSchemaOf(schema.of);
    case 'list':
      return { type: 'array', items: jsonSchemaOf(schema.of) };
    case 'object':
      return {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(schema.fields).map(([name, field]) => [name, jsonSchemaOf(field)]),
        ),
        required: Object.keys(schema.fields).filter((name) => schema.fields[name]?.kind !== 'optional'),
      };
  }
}
