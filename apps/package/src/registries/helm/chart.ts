import { Refused } from '@rookery/kernel';
import { parse as parseVersion } from 'semver';
import { parseDocument, visit } from 'yaml';
import type { YAMLMap } from 'yaml';

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
/** The fields as JSON, since an index holds those of all charts. Units: characters. */
const MAX_FIELDS = 64 * 1024;
/** PostgreSQL stores no NUL and no half of a surrogate pair in JSON; other control characters are no text either. */
const NO_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]|\p{Cs}/u;

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
      ...{ enabled: flag, 'import-values': listOf(importValue), alias: text },
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
  const chart = { ...found, ...(named === undefined ? {} : { maintainers: named }), name, version };
  if (JSON.stringify(chart).length > MAX_FIELDS) throw invalid('is too large');
  return chart;
}

/** Refusal of a chart. */
export function invalid(problem: string): Refused {
  return new Refused(`Chart.yaml: ${problem}`, { verbatim: true });
}

function isVersion(version: string): boolean {
  return VERSION.test(version) && version === version.trim() && parseVersion(version) !== null;
}

/** All scalars are texts in this schema. Errors: Refused for a text that is no YAML, or with tags, aliases or double keys. */
function valueOf(content: Buffer): unknown {
  try {
    // The library's own check for double keys takes quadratic time.
    const document = parseDocument(content.toString(), { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' });
    if (document.errors.length > 0 || document.warnings.length > 0) throw invalid('is no plain YAML');
    visit(document, { Alias: refuseAlias, Map: (_, map) => refuseDoubleKeys(map) });
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw invalid('is no plain YAML');
  }
}

function refuseAlias(): never {
  throw invalid('is no plain YAML');
}

function refuseDoubleKeys({ items }: YAMLMap): void {
  const keys = new Set(items.map(({ key }) => String(key)));
  if (keys.size !== items.length) throw invalid('is no plain YAML');
}

/** YAML writes an absent value as an empty text, `~` or `null`. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === '~' || value === 'null';
}

function text(value: unknown, place: string): string {
  if (typeof value !== 'string' || NO_TEXT.test(value)) throw invalid(`${place} is invalid`);
  return value;
}

/** Reads an entry of `import-values`: the name of an export of the subchart, or paths by `child` and `parent`. */
function importValue(value: unknown, place: string): unknown {
  return typeof value === 'string' ? text(value, place) : textsByKey(value, place);
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
  return Object.fromEntries(
    entries.map(([key, one]) => [text(key, place), isAbsent(one) ? '' : text(one, `${place}.${key}`)]),
  );
}

function objectOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(place === '' ? 'is no map' : `${place} is invalid`);
  return value as Readonly<Record<string, unknown>>;
}
