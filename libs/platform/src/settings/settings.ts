import { readFileSync } from 'node:fs';
import type { SettingField } from './setting';
import { unknownVariables } from './unknown-variables';

/** A named group of settings, read once in `boot` and injected by `token`. */
export interface SettingsDefinition<F extends SettingFields = SettingFields> {
  readonly area: string;
  readonly token: symbol;
  readonly fields: F;
}
export type SettingFields = Readonly<Record<string, SettingField<unknown>>>;
/** The plain object of typed values that `@Inject(definition.token)` yields. */
export type SettingsOf<D> =
  D extends SettingsDefinition<infer F>
    ? { readonly [K in keyof F]: F[K] extends SettingField<infer T> ? T : never }
    : never;

/**
 * Objects of one process by injection token: settings by `definition.token`, and objects that `boot` created before
 * Nest (logger, metrics, readiness, shutdown order). `PlatformModule` turns each entry into a provider.
 */
export type SettingsValues = Map<symbol | (abstract new (...args: never[]) => unknown), unknown>;

/**
 * All problems of the environment together. `problems` are phrases that begin with the variable's name and never
 * contain a secret.
 */
export class ConfigurationError extends Error {
  constructor(
    readonly problems: readonly string[],
    text = `The configuration has ${problems.length === 1 ? '1 problem' : `${problems.length} problems`}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
  ) {
    super(text);
    this.name = 'ConfigurationError';
  }
}

/** Groups settings under an area. Source: ADR 0010. */
export function defineSettings<F extends SettingFields>(area: string, fields: F): SettingsDefinition<F> {
  return { area, token: Symbol(`settings:${area}`), fields };
}

/**
 * Reads all definitions from an environment. Purpose: the only place that reads the environment. An empty variable
 * counts as absent.
 * Errors: ConfigurationError with all problems: missing, malformed, unreadable `_FILE`, and undeclared variables with a
 * prefix of ours (misspelt ones).
 */
export function readSettings(
  definitions: readonly SettingsDefinition[],
  env: Readonly<Record<string, string | undefined>>,
): SettingsValues {
  const problems: string[] = [];
  const values: SettingsValues = new Map();
  for (const definition of new Set(definitions)) {
    const entries = Object.entries(definition.fields).map(([name, field]) => [name, readSetting(field, env, problems)]);
    values.set(definition.token, Object.freeze(Object.fromEntries(entries)));
  }
  problems.push(...unknownVariables(definitions, env));
  if (problems.length > 0) throw new ConfigurationError([...new Set(problems)]);
  return values;
}

/** The values of one definition. Errors: a plain Error when the definition was not among those read. */
export function pickSettings<D extends SettingsDefinition>(values: SettingsValues, definition: D): SettingsOf<D> {
  const found = values.get(definition.token);
  if (found === undefined) throw new Error(`settings "${definition.area}" are not among those of this process`);
  return found as SettingsOf<D>;
}

function readSetting(
  field: SettingField<unknown>,
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): unknown {
  const text = field.isSecret ? readSecretText(field.env, env, problems) : env[field.env]?.trim();
  if (text === null) return undefined;
  if (text === undefined || text === '') {
    if (field.fallback) return field.fallback();
    problems.push(`${field.env} is missing: ${field.about}`);
    return undefined;
  }
  const outcome = field.read(text);
  if ('value' in outcome) return outcome.value;
  problems.push(`${field.env} ${outcome.problem}`);
  return undefined;
}

/** Undefined: absent. Null: a problem was recorded. */
function readSecretText(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): string | undefined | null {
  const file = env[`${name}_FILE`];
  if (!file) return env[name];
  if (env[name]) {
    problems.push(`${name} and ${name}_FILE are both set`);
    return null;
  }
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (text === '') problems.push(`${name}_FILE names an empty file`);
    return text === '' ? null : text;
  } catch (error) {
    problems.push(`${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'}: ${file})`);
    return null;
  }
}
