/**
 * One environment variable: name, allowed values and default. `read` gets a non-empty text and returns a value or a
 * problem ("is not …").
 */
export interface SettingField<T> {
  readonly env: string;
  readonly type: 'integer' | 'text' | 'flag' | 'choice' | 'list' | 'url' | 'cron' | 'secret';
  readonly about: string;
  /** The value when the variable is absent or empty; undefined: the variable is required. */
  readonly fallback: (() => T) | undefined;
  /** The default as documentation shows it; undefined: required. */
  readonly defaultText: string | undefined;
  readonly unit: string | undefined;
  /** Allowed values, if they are narrower than the type, e.g. `1 to 65535`. */
  readonly allowed: string | undefined;
  /** A secret may also come from the file that `<env>_FILE` names. */
  readonly isSecret: boolean;
  read(text: string): { readonly value: T } | { readonly problem: string };
}

interface SettingOptions {
  /** One sentence. */
  readonly about: string;
  /** Default: from the suffix of the name (`_MS`, `_BYTES`, `_COUNT` …). */
  readonly unit?: string;
}
/** A null default makes the setting optional: its value is null when absent. */
type SettingValue<T, D> = [D] extends [null] ? T | null : T;

const UNITS: Readonly<Record<string, string>> = {
  MS: 'milliseconds',
  SECONDS: 'seconds',
  MINUTES: 'minutes',
  HOURS: 'hours',
  DAYS: 'days',
  BYTES: 'bytes',
  COUNT: 'count',
  PERCENT: 'percent',
};

function createField<T>(
  env: string,
  type: SettingField<T>['type'],
  o: SettingOptions & { readonly default?: T | undefined },
  read: SettingField<T>['read'],
  more: { allowed?: string | undefined; defaultText?: string | undefined } = {},
): SettingField<T> {
  const hasDefault = o.default !== undefined;
  return {
    env,
    type,
    about: o.about,
    fallback: hasDefault ? () => o.default as T : undefined,
    defaultText: more.defaultText ?? (hasDefault ? formatSettingValue(o.default) : undefined),
    unit: o.unit ?? UNITS[env.slice(env.lastIndexOf('_') + 1)],
    allowed: more.allowed,
    isSecret: type === 'secret',
    read,
  };
}

function formatSettingValue(value: unknown): string {
  if (value === null || value === '') return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value);
}

function rangeText(min: number | undefined, max: number | undefined): string | undefined {
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (min !== undefined) return `at least ${min}`;
  return max === undefined ? undefined : `at most ${max}`;
}

function splitCommaList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['1', true],
  ['yes', true],
  ['off', false],
  ['false', false],
  ['0', false],
  ['no', false],
]);

const PART = String.raw`(?:\*|\d{1,2}(?:-\d{1,2})?)(?:/\d{1,2})?`;
const CRON = new RegExp(`^(?:${PART}(?:,${PART})*(?:\\s+|$)){5}$`);

/**
 * Declares settings, a line each. Purpose: name, type, default, unit and description of an environment variable are
 * stated once and used for reading, checking and documentation. No `default`: required. `default: null`: optional.
 * Source: ADR 0010.
 */
export const setting = {
  /** A whole number, bounds inclusive. */
  int<D extends number | null = number>(
    env: string,
    o: SettingOptions & { readonly default?: D; readonly min?: number; readonly max?: number },
  ): SettingField<SettingValue<number, D>> {
    const allowed = rangeText(o.min, o.max);
    return createField<number | null>(
      env,
      'integer',
      o,
      (text) => {
        const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : NaN;
        if (Number.isNaN(value)) return { problem: 'is not a whole number' };
        const fits = value >= (o.min ?? -Infinity) && value <= (o.max ?? Infinity);
        return fits ? { value } : { problem: `is out of range (${allowed})` };
      },
      { allowed },
    ) as SettingField<SettingValue<number, D>>;
  },

  /** `computed` is a default computed at start, with its description for the documentation. */
  text<D extends string | null = string>(
    env: string,
    o: SettingOptions & {
      readonly default?: D;
      readonly computed?: { readonly about: string; readonly value: () => string };
    },
  ): SettingField<SettingValue<string, D>> {
    const plain = createField<string | null>(env, 'text', o, (text) => ({ value: text }));
    const made = o.computed ? { ...plain, fallback: o.computed.value, defaultText: o.computed.about } : plain;
    return made as SettingField<SettingValue<string, D>>;
  },

  /** on/off, true/false, 1/0, yes/no. */
  flag(env: string, o: SettingOptions & { readonly default: boolean }): SettingField<boolean> {
    return createField<boolean>(
      env,
      'flag',
      o,
      (text) => {
        const value = FLAGS.get(text.toLowerCase());
        return value === undefined ? { problem: 'is neither on nor off' } : { value };
      },
      { allowed: 'on, off' },
    );
  },

  choice<const V extends readonly string[]>(
    env: string,
    values: V,
    o: SettingOptions & { readonly default: V[number] },
  ): SettingField<V[number]> {
    return createField<V[number]>(
      env,
      'choice',
      o,
      (text) => (values.includes(text) ? { value: text } : { problem: `is not one of ${values.join(', ')}` }),
      { allowed: values.join(', ') },
    );
  },

  /** Ids, comma-separated as in a `list`. */
  ids(env: string, o: SettingOptions & { readonly default: readonly number[] }): SettingField<readonly number[]> {
    return createField<readonly number[]>(
      env,
      'list',
      o,
      (text) => {
        const items = splitCommaList(text);
        return items.every((item) => /^[1-9]\d{0,14}$/.test(item))
          ? { value: items.map(Number) }
          : { problem: 'is not a list of ids' };
      },
      { allowed: 'ids, comma-separated', defaultText: o.default.join(',') },
    );
  },

  /**
   * Comma-separated; blanks around items and empty items are dropped. `check` returns a problem ("holds …") or null.
   */
  list(
    env: string,
    o: SettingOptions & {
      readonly default: readonly string[];
      readonly check?: (items: readonly string[]) => string | null;
    },
  ): SettingField<readonly string[]> {
    return createField<readonly string[]>(
      env,
      'list',
      o,
      (text) => {
        const value = splitCommaList(text);
        const problem = o.check?.(value) ?? null;
        return problem === null ? { value } : { problem };
      },
      { allowed: 'comma-separated', defaultText: o.default.join(',') },
    );
  },

  /**
   * An absolute URL; a slash at its end is removed. May contain credentials (`postgres://…`), which are never printed.
   * With `orNone` the word `none` means that there is no such server; the value is null then.
   */
  url<D extends string | null = string, N extends boolean = false>(
    env: string,
    o: SettingOptions & { readonly default?: D; readonly protocols?: readonly string[]; readonly orNone?: N },
  ): SettingField<N extends true ? string | null : SettingValue<string, D>> {
    return createField<string | null>(env, 'url', o, (text) => {
      if (o.orNone && text === 'none') return { value: null };
      if (!URL.canParse(text)) return { problem: 'is not an absolute URL' };
      const protocol = new URL(text).protocol.slice(0, -1);
      if (o.protocols && !o.protocols.includes(protocol)) {
        return { problem: `is not a URL of ${o.protocols.join(' or ')}` };
      }
      return { value: text.replace(/\/+$/, '') };
    }) as SettingField<N extends true ? string | null : SettingValue<string, D>>;
  },

  /** A schedule: minute, hour, day, month, day of the week, in UTC. */
  cron(env: string, o: SettingOptions & { readonly default: string }): SettingField<string> {
    return createField<string>(
      env,
      'cron',
      o,
      (text) => (CRON.test(text.trim()) ? { value: text.trim() } : { problem: 'is not a line of cron' }),
      { allowed: 'five fields, in UTC' },
    );
  },

  /**
   * A text that is never printed; `<env>_FILE` may name a file that contains it instead. `check` returns a problem ("is
   * …", without the value) or null.
   */
  secret<D extends string | null = string>(
    env: string,
    o: SettingOptions & { readonly default?: D; readonly check?: (text: string) => string | null },
  ): SettingField<SettingValue<string, D>> {
    return createField<string | null>(env, 'secret', o, (text) => {
      const problem = o.check?.(text) ?? null;
      return problem === null ? { value: text } : { problem };
    }) as SettingField<SettingValue<string, D>>;
  },
};
