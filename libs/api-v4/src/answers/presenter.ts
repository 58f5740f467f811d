import type { Viewer } from '@rookery/kernel';
import type { Links } from '@rookery/platform';
import type { JsonSchema } from './answers';
import type { FieldType, WriteValue } from './field-types';
import type { RuleServices } from '../call/permission';
import { findFieldDescription } from './field-descriptions';

/** The request for which a presenter renders. `within` is the scope of its parent, undefined without one. */
export interface PresentContext extends RuleServices {
  readonly viewer: Viewer;
  readonly links: Links;
  readonly within: unknown;
}

/** Options of a presenter's field. */
export interface FieldOptions<T, L> {
  /** Omits the field when it returns false. */
  readonly when?: (row: T, loaded: L, ctx: PresentContext) => boolean;
  /** Description for the OpenAPI document. */
  readonly about?: string;
  /** Names the replacement of a deprecated field. */
  readonly deprecated?: string;
  /** Marks a secret that is shown only when it is created. Answers with it are stored only for a short time. */
  readonly shownOnce?: true;
}

/** Fields by output name, in the order of the output. Each has a type, a getter and optional options. */
export type Fields<T, L, V extends Record<string, unknown>> = {
  readonly [K in keyof V]:
    | readonly [FieldType<V[K]>, (row: T, loaded: L, ctx: PresentContext) => V[K]]
    | readonly [FieldType<V[K]>, (row: T, loaded: L, ctx: PresentContext) => V[K], FieldOptions<T, L>];
};

type RelatedDataLoader = (rows: readonly unknown[], ctx: PresentContext) => unknown;

interface CompiledField {
  readonly name: string;
  readonly key: string;
  readonly type: FieldType<never>;
  readonly source: (row: unknown, loaded: unknown, ctx: PresentContext) => unknown;
  readonly when: ((row: unknown, loaded: unknown, ctx: PresentContext) => boolean) | undefined;
  readonly options: FieldOptions<never, never>;
  /** Index of the loader whose result the source gets. */
  readonly part: number;
}

/** Renders one row as JSON text. */
export type WriteRow<T> = (row: T) => string;

/**
 * Renders rows of one resource as JSON and provides their OpenAPI schema. Related data is loaded once for all rows.
 * Created by `presenter(name)`. Source: ADR 0033.
 */
export class Presenter<in T> {
  /** Whether a field is a secret that is shown only once. */
  readonly hasSecret: boolean;
  private readonly loads: boolean;

  constructor(
    readonly name: string,
    private readonly loaders: readonly (RelatedDataLoader | undefined)[],
    private readonly fields: readonly CompiledField[],
  ) {
    this.hasSecret = fields.some(({ options }) => options.shownOnce);
    this.loads = loaders.some(Boolean) || fields.some((field) => field.type.batch !== undefined);
  }

  /** JSON schema of a row. Built on demand, because nested presenters may be declared later. */
  get schema(): JsonSchema {
    return (this.cachedSchema ??= objectSchemaOf(this.fields));
  }
  private cachedSchema: JsonSchema | undefined;

  /** Loads data for all rows and returns the function that renders one. Synchronous when no data is loaded. */
  prepareWriter(rows: readonly T[], ctx: PresentContext): WriteRow<T> | Promise<WriteRow<T>> {
    return this.loads ? this.prepareRowWriter(rows, ctx) : this.createRowWriter([], this.plainWriters, ctx);
  }

  /** Renders rows as a JSON array. */
  async renderList(rows: readonly T[], ctx: PresentContext): Promise<string> {
    if (rows.length === 0) return '[]';
    const prepared = this.prepareWriter(rows, ctx);
    const write = prepared instanceof Promise ? await prepared : prepared;
    let out = '[';
    for (let i = 0; i < rows.length; i++) out += i === 0 ? write(rows[i]!) : `,${write(rows[i]!)}`;
    return `${out}]`;
  }

  /** Renders one row as a JSON object. */
  async renderRow(row: T, ctx: PresentContext): Promise<string> {
    const prepared = this.prepareWriter([row], ctx);
    return (prepared instanceof Promise ? await prepared : prepared)(row);
  }

  /** Begins a presenter with all fields of this one and more. A field with the name of an earlier one replaces it. */
  extend<U extends T>(name: string): PresenterBuilder<U, undefined> {
    return new PresenterBuilder<U, undefined>(name, undefined, this.loaders, this.fields);
  }

  /** Returns this presenter as a field type for other presenters. */
  asField(): FieldType<T> {
    const write: WriteValue = (value, ctx) => this.createRowWriter([], this.plainWriters, ctx)(value as T);
    if (!this.loads) return { schema: this.reference, write };
    return {
      schema: this.reference,
      write: () => {
        throw new Error(`presenter ${this.name} loads and was asked to write without its batch`);
      },
      batch: async (values, ctx) => {
        const row = await this.prepareWriter(values as readonly T[], ctx);
        return (value) => row(value as T);
      },
    };
  }

  /** Reference to the schema in the OpenAPI document, which describes each schema once. */
  get reference(): JsonSchema {
    return { $ref: `#/components/schemas/${this.name}`, 'x-presenter': this };
  }

  private get plainWriters(): readonly WriteValue[] {
    return (this.cachedWriters ??= this.fields.map((field) => field.type.write));
  }
  private cachedWriters: readonly WriteValue[] | undefined;

  private async prepareRowWriter(rows: readonly T[], ctx: PresentContext): Promise<WriteRow<T>> {
    const loaded = await Promise.all(this.loaders.map((load) => load?.(rows, ctx)));
    const writers = await Promise.all(
      this.fields.map((field) => {
        if (!field.type.batch) return Promise.resolve(field.type.write);
        const shown = field.when ? rows.filter((row) => field.when!(row, loaded[field.part], ctx)) : rows;
        return field.type.batch(
          shown.map((row) => field.source(row, loaded[field.part], ctx)),
          ctx,
        );
      }),
    );
    return this.createRowWriter(loaded, writers, ctx);
  }

  private createRowWriter(
    loaded: readonly unknown[],
    writers: readonly WriteValue[],
    ctx: PresentContext,
  ): WriteRow<T> {
    const fields = this.fields;
    return (row) => {
      let out = '';
      for (let i = 0; i < fields.length; i++) {
        const field = fields[i]!;
        const part = loaded[field.part];
        if (field.when !== undefined && !field.when(row, part, ctx)) continue;
        out += (out === '' ? '{' : ',') + field.key + writers[i]!(field.source(row, part, ctx), ctx);
      }
      return out === '' ? '{}' : `${out}}`;
    };
  }
}

/** Builds a presenter: first the optional loader, then the fields. */
export class PresenterBuilder<T, L> {
  constructor(
    private readonly name: string,
    private readonly loader: RelatedDataLoader | undefined,
    private readonly baseLoaders: readonly (RelatedDataLoader | undefined)[] = [],
    private readonly baseFields: readonly CompiledField[] = [],
  ) {}

  /** Sets the loader, the only part with IO. It is called once with all rows of an answer. */
  load<N>(loader: (rows: readonly T[], ctx: PresentContext) => Promise<N> | N): PresenterBuilder<T, Awaited<N>> {
    return new PresenterBuilder<T, Awaited<N>>(
      this.name,
      loader as RelatedDataLoader,
      this.baseLoaders,
      this.baseFields,
    );
  }

  /** Adds the fields and returns the presenter. */
  fields<V extends Record<string, unknown>>(fields: Fields<T, L, V>): Presenter<T> {
    const part = this.baseLoaders.length;
    const own = Object.entries(fields).map(([name, spec]) => compileField(name, spec as unknown as FieldSpec, part));
    const byName = new Map([...this.baseFields, ...own].map((field) => [field.name, field]));
    return new Presenter<T>(this.name, [...this.baseLoaders, this.loader], [...byName.values()]);
  }
}

type FieldSpec = readonly [FieldType<never>, CompiledField['source'], FieldOptions<never, never>?];

function compileField(name: string, [type, source, options = {}]: FieldSpec, loaderIndex: number): CompiledField {
  const when = options.when as CompiledField['when'];
  return { name, key: `${JSON.stringify(name)}:`, type, source, when, options, part: loaderIndex };
}

function objectSchemaOf(fields: readonly CompiledField[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, describeFieldSchema(field)])),
    required: fields.filter((field) => field.when === undefined).map((field) => field.name),
  };
}

function describeFieldSchema(field: CompiledField): JsonSchema {
  const { deprecated, about = findFieldDescription(field.name) } = field.options;
  if (about === undefined && deprecated === undefined) return field.type.schema;
  const description = [about, deprecated && `Deprecated: use ${deprecated}.`].filter(Boolean).join(' ');
  return { ...field.type.schema, description, ...(deprecated ? { deprecated: true } : {}) };
}

/**
 * Begins a presenter: `presenter<Note>('Note').load(…).fields({ id: [int, (note) => note.id], … })`. `name` is the
 * schema's name in the OpenAPI document.
 */
export function presenter<T>(name: string): PresenterBuilder<T, undefined> {
  return new PresenterBuilder<T, undefined>(name, undefined);
}

type RowCondition<T> = (row: T, ctx: PresentContext) => boolean;
type PlainField<T> = readonly [
  FieldType<never>,
  (row: T, loaded: undefined, ctx: PresentContext) => never,
  FieldOptions<T, undefined>?,
];

/** Declares fields outside of a presenter with the same type checks: `definePresenterFields<User>()({…})`. */
export function definePresenterFields<T>() {
  return <V extends Record<string, unknown>>(fields: Fields<T, undefined, V>): Fields<T, undefined, V> => fields;
}

/** Adds a condition to fields. A field with a condition of its own needs both. */
export function onlyWhen<T, V extends Record<string, unknown>>(
  holds: RowCondition<T>,
  fields: Fields<T, undefined, V>,
): Fields<T, undefined, V> {
  const conditional = Object.entries(fields as unknown as Record<string, PlainField<T>>).map(
    ([name, [type, source, options]]) => {
      const own = options?.when;
      const when = (row: T, loaded: undefined, ctx: PresentContext): boolean =>
        holds(row, ctx) && (own === undefined || own(row, loaded, ctx));
      return [name, [type, source, { ...options, when }]] as const;
    },
  );
  // The result has the names and types of the argument; Object.entries loses them.
  return Object.fromEntries(conditional) as unknown as Fields<T, undefined, V>;
}
