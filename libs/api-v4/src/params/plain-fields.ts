import type {
  PlainColumns,
  PlainField,
  PlainInput,
  PlainSettings,
  PlainSwitch,
  PlainTable,
  WhenSettable,
} from '@rookery/kernel';
import { plainFieldDefaults } from '@rookery/kernel';
import type { FieldCommon } from './field-typing';
import { bool, choice, int, list, nullable, text } from '../answers/field-types';
import type { FieldType } from '../answers/field-types';
import { declareField } from './fields';
import type { FieldForm } from './fields';
import type { FieldOptions, Fields } from '../answers/presenter';

type ParamsClass<P> = new () => P;

/** Selects the plain fields that a parameter class gets. `hashes` are the parameter classes of its hash fields. */
export interface PlainParams<T, When> {
  readonly when: When;
  readonly hashes?: {
    readonly [K in keyof T as T[K] extends { readonly kind: 'hash' } ? K : never]: () => ParamsClass<
      NonNullable<PlainInput<T, WhenSettable>[K & keyof PlainInput<T, WhenSettable>]>
    >;
  };
}

/**
 * Extends a parameter class by plain fields of a table, all of them optional:
 * `class ProjectFields extends withPlainFields(ProjectBasics, PROJECT_FIELDS, { when: 'always' }) {}`.
 */
export function withPlainFields<B extends object, T extends PlainTable, When extends WhenSettable>(
  base: ParamsClass<B>,
  table: T,
  { when, hashes }: PlainParams<T, When>,
): ParamsClass<B & PlainInput<T, When>> {
  const classes: Readonly<Record<string, () => ParamsClass<object>>> = { ...hashes };
  class WithPlainFields extends (base as ParamsClass<object>) {}
  for (const [name, row] of Object.entries(table)) {
    const isSwitch = row.kind === 'switch';
    if ((isSwitch ? 'always' : (row.options.settable ?? 'always')) !== when) continue;
    const form: FieldForm = isSwitch ? { kind: 'flag' } : toFieldForm(row, classes[name]);
    declareField(form, isSwitch ? { optional: true, deprecated: row.of } : toFieldCommon(row))(
      WithPlainFields.prototype,
      name,
    );
  }
  return WithPlainFields as ParamsClass<B & PlainInput<T, When>>;
}

function toFieldCommon({ options: { nullable, alias, about, deprecated, by } }: PlainField): FieldCommon<unknown> {
  return {
    optional: true,
    ...(nullable === undefined ? {} : { nullable }),
    ...(alias === undefined ? {} : { alias }),
    ...(about === undefined ? {} : { about }),
    ...(deprecated === undefined ? {} : { deprecated }),
    ...(by === undefined ? {} : { forAdministrators: true }),
  };
}

function toFieldForm(
  { kind, options, values, items }: PlainField,
  hash: (() => ParamsClass<object>) | undefined,
): FieldForm {
  const { min, max } = options;
  switch (kind) {
    case 'flag':
      return { kind };
    case 'int':
      return { kind, ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
    case 'text':
      return { kind, refuseBlank: false };
    case 'oneOf':
      return { kind, values: values ?? [] };
    case 'list':
      return { kind, of: items ?? 'text', max: max ?? 1000, splitItems: items === 'int', refuseEmpty: false };
    case 'hash':
      if (!hash) throw new Error('a plain field that is a hash has no parameter class');
      return { kind: 'group', of: hash };
  }
}

/** Answers that show a field: lists and single answers, or single answers only. */
type AnswerForm = 'list' | 'detail';
type IsShownAt<F, At extends AnswerForm> = F extends { readonly options: infer O }
  ? O extends { readonly shown: false }
    ? false
    : (O extends { readonly in: 'detail' } ? 'detail' : 'list') extends At
      ? true
      : false
  : At extends 'list'
    ? true
    : false;
type ShownFieldNames<T, At extends AnswerForm> = {
  [K in keyof T]: IsShownAt<T[K], At> extends true ? K : never;
}[keyof T] &
  string;
type Audiences<T, At extends AnswerForm> = {
  [K in ShownFieldNames<T, At>]: T[K] extends { readonly options: { readonly shown: infer To extends string } }
    ? To
    : never;
}[ShownFieldNames<T, At>];

type ShownField<Row> = readonly [FieldType<never>, (row: Row) => unknown, FieldOptions<Row, undefined>];
type ShownCondition<Row> = NonNullable<FieldOptions<Row, undefined>['when']>;

/** A row with the columns and settings of a table of plain fields. */
export type PlainRow<T> = Readonly<PlainColumns<T>> & { readonly settings: Partial<PlainSettings<T>> };

/**
 * Returns the presenter fields of plain fields, to be spread among those of a presenter; a field that was listed before
 * keeps its earlier position. Settings that are not stored show their defaults. Example:
 * `createPlainPresenterFields<ProjectRow>()(PROJECT_FIELDS, 'list', { maintainers: administers })`.
 * The third argument has a condition for each audience that the table names in `shown`. The last one has the types of
 * hashes.
 */
export function createPlainPresenterFields<Row>() {
  return <T extends PlainTable, At extends AnswerForm>(
    table: Row extends PlainRow<T> ? T : never,
    at: At,
    audiences: { readonly [To in Audiences<T, At>]: ShownCondition<Row> },
    hashes: Readonly<Record<string, FieldType<never>>> = {},
  ): Fields<Row, undefined, Record<ShownFieldNames<T, At>, unknown>> => {
    const conditions: Readonly<Record<string, ShownCondition<Row>>> = audiences;
    const valueOf = createGetterFactory<Row>(table);
    const fields: Record<string, ShownField<Row>> = {};
    for (const [name, row] of Object.entries<PlainField | PlainSwitch>(table)) {
      if (row.kind === 'switch') {
        if (at === 'list') fields[name] = toSwitchPresenterField(row, valueOf(row.of));
        continue;
      }
      const { shown, in: place = 'list', deprecated } = row.options;
      if (shown === false || place !== at) continue;
      const when = shown === undefined ? {} : { when: conditions[shown]! };
      fields[name] = [
        toPresenterFieldType(row, hashes[name]),
        valueOf(name),
        { ...when, ...(deprecated === undefined ? {} : { deprecated }) },
      ];
    }
    // The compiler loses the names of the table in the loop.
    return fields as unknown as Fields<Row, undefined, Record<ShownFieldNames<T, At>, unknown>>;
  };
}

/** Returns getters for columns and settings; a setting that is not stored has its default. */
function createGetterFactory<Row>(table: PlainTable): (name: string) => (row: Row) => unknown {
  const defaults: ReadonlyMap<string, unknown> = new Map(Object.entries(plainFieldDefaults(table)));
  return (name) => {
    if (!defaults.has(name)) return (row) => (row as Readonly<Record<string, unknown>>)[name];
    return (row) => (row as { settings: Readonly<Record<string, unknown>> }).settings[name] ?? defaults.get(name);
  };
}

/** Picks fields by name, to place them separately. */
export function pickFields<F extends object, N extends keyof F>(fields: F, ...names: readonly N[]): Pick<F, N> {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<F, N>;
}

function toSwitchPresenterField<Row>(
  { of, off, shownAsDeprecated }: PlainSwitch,
  valueOf: (row: Row) => unknown,
): ShownField<Row> {
  return [bool, (row: Row) => valueOf(row) !== off, shownAsDeprecated ? { deprecated: of } : {}];
}

function toPresenterFieldType(
  { kind, items, options, values = [] }: PlainField,
  hash: FieldType<never> | undefined,
): FieldType<never> {
  if (kind === 'hash' && !hash) throw new Error('a plain field that is a hash has no type');
  const oneOf = values.every((value) => typeof value === 'string') ? choice(...values) : int;
  const types = { flag: bool, int, text, oneOf, list: items === 'int' ? list(int) : list(text), hash: hash! };
  const type: FieldType<never> = types[kind];
  return options.nullable ? nullable(type) : type;
}
