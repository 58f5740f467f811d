import { Refused } from '@rookery/kernel';
import { parse as parseVersion } from 'semver';
import { parseDocument } from 'yaml';

/**
 * The fields of `Chart.yaml` that an index may have. Helm refuses a whole repository for a field that it does not know, or
 * for one of another type. Shape: as JSON; all versions are texts. Source: reference packages-and-admin 4.8.
 */
export type Chart = Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };

/** Value of a field in the index. Shape: undefined for a field that is left out. Errors: Refused. */
type FieldReader = (value: unknown, place: string) => unknown;

const NAME = /^(?!.*\.\.)(?!\.$)[A-Za-z0-9._+-]+$/;
const VERSION = /^v?\d/;
const MAX_LENGTH = 255;
const MAX_ALIASES = 50;

const FIELDS: Readonly<Record<string, FieldReader>> = {
  apiVersion: text,
  name: text,
  version: text,
  description: text,
  home: text,
  sources: listOf(text),
  keywords: listOf(text),
  maintainers: listOf(recordOf({ name: text, email: text, url: text })),
  icon: text,
  condition: text,
  tags: text,
  appVersion: text,
  deprecated: flag,
  annotations: textsByKey,
  kubeVersion: text,
  dependencies: listOf(
    recordOf({
      ...{ name: text, version: text, repository: text, condition: text, tags: listOf(text) },
      ...{ enabled: flag, 'import-values': listOf((value) => value), alias: text },
    }),
  ),
  type: text,
};

/**
 * Reads `Chart.yaml`. Scalars keep their spelling, so that the version `1.10` does not become the number 1.1.
 * Errors: Refused with the name of the field.
 */
export function parseChart(content: Buffer): Chart {
  const found = recordOf(FIELDS)(valueOf(content), '') as Readonly<Record<string, unknown>>;
  const { name, version } = found;
  if (typeof found['apiVersion'] !== 'string') throw invalid('apiVersion is missing');
  if (typeof name !== 'string') throw invalid('name is missing');
  if (typeof version !== 'string') throw invalid('version is missing');
  if (name.length > MAX_LENGTH || !NAME.test(name)) throw invalid('name is invalid');
  if (version.length > MAX_LENGTH || !isVersion(version)) throw invalid('version should follow SemVer');
  const maintainers = found['maintainers'] as readonly { readonly name?: string }[] | undefined;
  // Helm has no maintainer without a name.
  const named = maintainers?.filter((one) => one.name !== undefined);
  return { ...found, ...(named === undefined ? {} : { maintainers: named }), name, version };
}

/** Refusal of a chart. */
export function invalid(problem: string): Refused {
  return new Refused(`Chart.yaml: ${problem}`, { verbatim: true });
}

function isVersion(version: string): boolean {
  return VERSION.test(version) && parseVersion(version) !== null;
}

/** All scalars are texts in this schema. Errors: Refused for a text that is no YAML, with tags, or with many aliases. */
function valueOf(content: Buffer): unknown {
  try {
    const document = parseDocument(content.toString(), { schema: 'failsafe', uniqueKeys: true, logLevel: 'silent' });
    if (document.errors.length > 0 || document.warnings.length > 0) throw invalid('is no plain YAML');
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    throw invalid('is no plain YAML');
  }
}

/** YAML writes an absent value as an empty text, `~` or `null`. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === '~' || value === 'null';
}

function text(value: unknown, place: string): string {
  if (typeof value !== 'string') throw invalid(`${place} is invalid`);
  return value;
}

function flag(value: unknown, place: string): boolean {
  if (typeof value !== 'string' || !/^(?:true|false)$/i.test(value)) throw invalid(`${place} is invalid`);
  return value.toLowerCase() === 'true';
}

function listOf(item: FieldReader): FieldReader {
  return (value, place) => {
    if (!Array.isArray(value)) throw invalid(`${place} is invalid`);
    return value.map((one, index) => item(one, `${place}[${index}]`));
  };
}

/** Reads known fields in their order and leaves out others. */
function recordOf(fields: Readonly<Record<string, FieldReader>>): FieldReader {
  return (value, place) => {
    const given = objectOf(value, place);
    const present = Object.keys(fields).filter((name) => Object.hasOwn(given, name) && !isAbsent(given[name]));
    return Object.fromEntries(
      present.map((name) => [name, fields[name]!(given[name], place === '' ? name : `${place}.${name}`)]),
    );
  };
}

function textsByKey(value: unknown, place: string): unknown {
  const entries = Object.entries(objectOf(value, place));
  return Object.fromEntries(entries.map(([key, one]) => [key, isAbsent(one) ? '' : text(one, `${place}.${key}`)]));
}

function objectOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(place === '' ? 'is no map' : `${place} is invalid`);
  return value as Readonly<Record<string, unknown>>;
}
