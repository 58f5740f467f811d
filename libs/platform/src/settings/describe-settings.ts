import type { SettingsDefinition } from './settings';

/** One line of `docs/configuration.md`. */
export interface SettingDescription {
  readonly area: string;
  /** Name of the environment variable. */
  readonly env: string;
  /** Name of the field in code. */
  readonly field: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** The default as text; empty for optional settings; undefined when required. */
  readonly defaultText: string | undefined;
  readonly unit: string | undefined;
  readonly allowed: string | undefined;
  /** The variable that may name a file with the secret; undefined for other settings. */
  readonly fileTwin: string | undefined;
  readonly about: string;
}

/**
 * Describes settings for the generated configuration document, in the order of declaration. A variable that several
 * areas declare appears once for each area.
 */
export function describeSettings(definitions: readonly SettingsDefinition[]): SettingDescription[] {
  return [...new Set(definitions)].flatMap((definition) =>
    Object.entries(definition.fields).map(([name, field]) => ({
      area: definition.area,
      env: field.env,
      field: name,
      type: field.type,
      isRequired: field.fallback === undefined,
      defaultText: field.defaultText,
      unit: field.unit,
      allowed: field.allowed,
      fileTwin: field.isSecret ? `${field.env}_FILE` : undefined,
      about: field.about,
    })),
  );
}
