import { Refused } from '@rookery/kernel';
import { parse as parseVersion } from 'semver';
import { parseDocument, visit } from 'yaml';
import type { YAMLMap } from 'yaml';

/**
 * The fields of `Chart.yaml` that an index may have. Helm refuses a whole repository for a field that it does not know,
 * or for one of another type. The fields are JSON values, and all versions are texts. Source: reference
 * packages-and-admin 4.8.
 */
export type Chart = Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };

/** Returns the value of a field in the index. Returns undefined for a field that is left out. Errors: Refused. */
type FieldReader = (value: unknown, place: string) => unknown;

const NAME = /^(?!.*\.\.)(?!\.$)[A-Za-z0-9._+-]+$/;
const VERSION = /^v?\d/;
const MAX_LENGTH = 255;
/** The fields as JSON, since an index holds those of all charts. Units: characters. */
const MAX_FIELDS = 64 * 1024;
/** PostgreSQL stores no NUL and no half of a surrogate pair in JSON; other control characters are no text either. */
const NO_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]|\p{Cs}/u;

const FIELDS: Readonly<Record<string, FieldReader>> = {
  apiVersion: readChartText,
  name: readChartText,
  version: readChartText,
  description: readChartText,
  home: readChartText,
  sources: listReader(readChartText),
  keywords: listReader(readChartText),
  maintainers: listReader(recordReader({ name: readChartText, email: readChartText, url: readChartText })),
  icon: readChartText,
  condition: readChartText,
  tags: readChartText,
  appVersion: readChartText,
  deprecated: readChartFlag,
  annotations: readChartTextMap,
  kubeVersion: readChartText,
  dependencies: listReader(
    recordReader({
      ...{
        name: readChartText,
        version: readChartText,
        repository: readChartText,
        condition: readChartText,
        tags: listReader(readChartText),
      },
      ...{ enabled: readChartFlag, 'import-values': listReader(readSubchartImportValue), alias: readChartText },
    }),
  ),
  type: readChartText,
};

/**
 * Reads `Chart.yaml`. Scalars keep their spelling, so that the version `1.10` does not become the number 1.1.
 * Errors: Refused with the name of the field.
 */
export function parseHelmChartYaml(content: Buffer): Chart {
  const found = recordReader(FIELDS)(parsePlainYaml(content), '') as Readonly<Record<string, unknown>>;
  const { name, version } = found;
  if (typeof found['apiVersion'] !== 'string') throw invalidHelmChartRefusal('apiVersion is missing');
  if (typeof name !== 'string') throw invalidHelmChartRefusal('name is missing');
  if (typeof version !== 'string') throw invalidHelmChartRefusal('version is missing');
  if (name.length > MAX_LENGTH || !NAME.test(name)) throw invalidHelmChartRefusal('name is invalid');
  if (version.length > MAX_LENGTH || !isHelmChartVersion(version))
    throw invalidHelmChartRefusal('version should follow SemVer');
  const maintainers = found['maintainers'] as readonly { readonly name?: string }[] | undefined;
  // Helm has no maintainer without a name.
  const named = maintainers?.filter((one) => one.name !== undefined);
  const chart = { ...found, ...(named === undefined ? {} : { maintainers: named }), name, version };
  if (JSON.stringify(chart).length > MAX_FIELDS) throw invalidHelmChartRefusal('is too large');
  return chart;
}

/** Refusal of a chart. */
export function invalidHelmChartRefusal(problem: string): Refused {
  return new Refused(`Chart.yaml: ${problem}`, { verbatim: true });
}

function isHelmChartVersion(version: string): boolean {
  return VERSION.test(version) && version === version.trim() && parseVersion(version) !== null;
}

/** All scalars are texts in this schema. Errors: Refused for a text that is no YAML, or with tags, aliases or double keys. */
function parsePlainYaml(content: Buffer): unknown {
  try {
    // The library's own check for double keys takes quadratic time.
    const document = parseDocument(content.toString(), { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' });
    if (document.errors.length > 0 || document.warnings.length > 0) throw invalidHelmChartRefusal('is no plain YAML');
    visit(document, { Alias: refuseYamlAlias, Map: (_, map) => refuseDoubleKeys(map) });
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw invalidHelmChartRefusal('is no plain YAML');
  }
}

function refuseYamlAlias(): never {
  throw invalidHelmChartRefusal('is no plain YAML');
}

function refuseDoubleKeys({ items }: YAMLMap): void {
  const keys = new Set(items.map(({ key }) => String(key)));
  if (keys.size !== items.length) throw invalidHelmChartRefusal('is no plain YAML');
}

/** YAML writes an absent value as an empty text, `~` or `null`. */
function isAbsentYamlValue(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === '~' || value === 'null';
}

function readChartText(value: unknown, place: string): string {
  if (typeof value !== 'string' || NO_TEXT.test(value)) throw invalidHelmChartRefusal(`${place} is invalid`);
  return value;
}

/** Reads an entry of `import-values`: the name of an export of the subchart, or paths by `child` and `parent`. */
function readSubchartImportValue(value: unknown, place: string): unknown {
  return typeof value === 'string' ? readChartText(value, place) : readChartTextMap(value, place);
}

function readChartFlag(value: unknown, place: string): boolean {
  if (typeof value !== 'string' || !/^(?:true|false)$/i.test(value))
    throw invalidHelmChartRefusal(`${place} is invalid`);
  return value.toLowerCase() === 'true';
}

function listReader(item: FieldReader): FieldReader {
  return (value, place) => {
    if (!Array.isArray(value)) throw invalidHelmChartRefusal(`${place} is invalid`);
    return value.map((one, index) => item(one, `${place}[${index}]`));
  };
}

/** Reads known fields in their order and leaves out others. */
function recordReader(fields: Readonly<Record<string, FieldReader>>): FieldReader {
  return (value, place) => {
    const given = requireChartObject(value, place);
    const present = Object.keys(fields).filter((name) => Object.hasOwn(given, name) && !isAbsentYamlValue(given[name]));
    return Object.fromEntries(
      present.map((name) => [name, fields[name]!(given[name], place === '' ? name : `${place}.${name}`)]),
    );
  };
}

function readChartTextMap(value: unknown, place: string): unknown {
  const entries = Object.entries(requireChartObject(value, place));
  return Object.fromEntries(
    entries.map(([key, one]) => [
      readChartText(key, place),
      isAbsentYamlValue(one) ? '' : readChartText(one, `${place}.${key}`),
    ]),
  );
}

function requireChartObject(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidHelmChartRefusal(place === '' ? 'is no map' : `${place} is invalid`);
  return value as Readonly<Record<string, unknown>>;
}
