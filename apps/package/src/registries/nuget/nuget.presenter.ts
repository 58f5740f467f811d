import { JsonText } from '@rookery/api-v4';
import type { JsonSchema } from '@rookery/api-v4';
import { nameKeyOf } from '../../packages/package-types';
import type { NugetPackageMatch, NugetRow } from './nuget.queries';
import { renderNugetFileName } from './nuget-releases';
import type { DependencyGroup } from './nuspec';

/** A text with its description. */
const textSchema = (description: string): JsonSchema => ({ type: 'string', description });
const integerSchema = (description: string): JsonSchema => ({ type: 'integer', description });
const flagSchema = (description: string): JsonSchema => ({ type: 'boolean', description });
const listSchema = (items: JsonSchema, description: string): JsonSchema => ({ type: 'array', items, description });
const objectSchema = (
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema => ({
  ...{ type: 'object', properties },
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});

const ADDRESS = textSchema('Address of this document.');
const KIND = textSchema('Type of the object in the protocol.');
const PACKAGE_CONTENT = textSchema('Address of the package.');
const ALL_VERSIONS = textSchema('Address of the document about all versions.');
const DESCRIBED = {
  description: textSchema('Description of the package.'),
  summary: textSchema('Short description.'),
  tags: textSchema('Tags, separated by spaces.'),
  projectUrl: textSchema('Address of the project, empty without one.'),
  licenseUrl: textSchema('Address of the license, empty without one.'),
  iconUrl: textSchema('Address of an icon, empty without one.'),
} as const;
const PACKAGE_ID = textSchema('Name of the package as it was published.');
const VERSION = textSchema('Version as it was published.');
const AUTHORS = textSchema('Authors, separated by commas.');

const DEPENDENCY = objectSchema({
  '@id': ADDRESS,
  '@type': KIND,
  id: textSchema('Name of the package that is needed.'),
  range: textSchema('Range of versions in the form of intervals.'),
});
const DEPENDENCY_GROUP = objectSchema(
  {
    '@id': ADDRESS,
    '@type': KIND,
    targetFramework: textSchema('Framework that needs the packages; absent for all.'),
    dependencies: listSchema(DEPENDENCY, 'Packages that are needed.'),
  },
  ['targetFramework'],
);
const ENTRY = objectSchema({
  ...{ '@id': ADDRESS, '@type': KIND, id: PACKAGE_ID, version: VERSION, authors: AUTHORS, ...DESCRIBED },
  licenseExpression: textSchema('SPDX expression of the license, empty without one.'),
  requireLicenseAcceptance: flagSchema('Whether clients must ask to accept the license.'),
  published: { ...textSchema('Time of the first upload.'), format: 'date-time' },
  listed: flagSchema('Always true.'),
  packageContent: PACKAGE_CONTENT,
  dependencyGroups: listSchema(DEPENDENCY_GROUP, 'Dependencies by framework.'),
});
export const LEAF = objectSchema({
  '@id': ADDRESS,
  packageContent: PACKAGE_CONTENT,
  registration: ALL_VERSIONS,
  catalogEntry: { ...ENTRY, description: 'Description of the version.' },
});
const PAGE = objectSchema({
  '@id': ADDRESS,
  lower: textSchema('Oldest version.'),
  upper: textSchema('Newest version.'),
  count: integerSchema('Number of versions.'),
  items: listSchema(LEAF, 'Versions, the oldest first.'),
});
export const REGISTRATION = objectSchema({
  '@id': ADDRESS,
  count: integerSchema('Number of pages, always 1.'),
  items: listSchema(PAGE, 'The page with all versions.'),
});
export const SERVICE_INDEX = objectSchema({
  version: textSchema('Version of the protocol.'),
  resources: listSchema(
    objectSchema({
      '@id': textSchema('Address of the part.'),
      '@type': KIND,
      comment: textSchema('Purpose of the part.'),
    }),
    'Parts of the registry.',
  ),
});
const FOUND_VERSION = objectSchema({
  '@id': textSchema('Address of the document about the version.'),
  version: VERSION,
  downloads: integerSchema('Always 0: downloads are not counted.'),
});
const FOUND = objectSchema({
  ...{ '@id': ADDRESS, '@type': KIND, id: PACKAGE_ID, version: textSchema('Newest version.') },
  title: textSchema('Title, or the name without one.'),
  ...{ authors: AUTHORS, ...DESCRIBED },
  totalDownloads: integerSchema('Always 0: downloads are not counted.'),
  verified: flagSchema('Always true.'),
  registration: ALL_VERSIONS,
  versions: listSchema(FOUND_VERSION, 'Newest versions, the oldest of them first.'),
});
export const SEARCH = objectSchema({
  totalHits: integerSchema('Number of all results.'),
  data: listSchema(FOUND, 'Packages by name.'),
});
export const CONTAINER = objectSchema({
  versions: listSchema({ type: 'string' }, 'Versions in lower case, the oldest first.'),
});
export const AUTOCOMPLETE = objectSchema({
  totalHits: integerSchema('Number of all results.'),
  data: listSchema({ type: 'string' }, 'Names of packages, or versions of one, the oldest first.'),
});

/** URLs of the registry that the request came through. `base` has no trailing slash. */
export interface NugetUrls {
  readonly base: string;
  /** Address of the registry of a project. */
  readonly ofProject: (id: number) => string;
}

/** The addresses of a registry. Only that of a project takes packages. */
export function nugetServiceIndex(base: string, kind: 'project' | 'group'): object {
  const resource = (path: string, comment: string, ...types: string[]): object[] =>
    types.map((type) => ({ '@id': `${base}${path}`, '@type': type, comment }));
  const versioned = (name: string): string[] => [name, `${name}/3.0.0-beta`, `${name}/3.0.0-rc`];
  const resources = [
    ...resource('/download', 'Download packages.', 'PackageBaseAddress/3.0.0'),
    ...resource('/query', 'Search packages by name.', ...versioned('SearchQueryService')),
    ...resource('/autocomplete', 'Complete names and versions.', ...versioned('SearchAutocompleteService')),
    ...resource('/metadata', 'Metadata of packages.', ...versioned('RegistrationsBaseUrl')),
    ...(kind === 'group' ? [] : resource('', 'Push and delete packages.', 'PackagePublish/2.0.0')),
    ...(kind === 'group' ? [] : resource('/symbolpackage', 'Push symbols.', 'SymbolPackagePublish/4.9.0')),
  ];
  return { version: '3.0.0', resources };
}

/** Largest JSON of all versions in one document. Older versions beyond it are left out. Units: characters. */
const MAX_LEAVES = 16 * 1024 ** 2;

/**
 * Returns the versions of a package in one page, the oldest first. `rows` has at least one row. Bounds: 16 Mi
 * characters of versions.
 */
export function registrationDocument(urls: NugetUrls, rows: readonly NugetRow[]): JsonText {
  const id = `${urls.base}/metadata/${rows[0]!.name_key}/index.json`;
  const leaves = renderNewestRegistrationLeaves(urls, rows);
  const [lower, upper] = [rows.at(-leaves.length)!.version_key, rows.at(-1)!.version_key];
  const page = JSON.stringify({ '@id': id, lower, upper, count: leaves.length });
  const items = `[${page.slice(0, -1)},"items":[${leaves.join(',')}]}]`;
  return new JsonText(`{"@id":${JSON.stringify(id)},"count":1,"items":${items}}`);
}

/** Returns the JSON of the newest versions, the oldest first. It has at least one version. */
function renderNewestRegistrationLeaves(urls: NugetUrls, rows: readonly NugetRow[]): readonly string[] {
  const leaves: string[] = [];
  let size = 0;
  for (const row of [...rows].reverse()) {
    const text = JSON.stringify(registrationLeaf(urls, row));
    size += text.length;
    if (leaves.length > 0 && size > MAX_LEAVES) break;
    leaves.push(text);
  }
  return leaves.reverse();
}

/** One version of a package. */
export function registrationLeaf(urls: NugetUrls, row: NugetRow): object {
  const { nuspec, name_key: key, version_key: version } = row;
  const id = `${urls.base}/metadata/${key}/${version}.json`;
  const packageContent = `${urls.ofProject(row.project_id)}/download/${key}/${version}/${renderNugetFileName(key, version, 'nupkg')}`;
  return {
    '@id': id,
    packageContent,
    registration: `${urls.base}/metadata/${key}/index.json`,
    catalogEntry: {
      ...{ '@id': id, '@type': 'PackageDetails', id: row.name, version: row.version, authors: nuspec.authors },
      ...describePackage(row),
      ...{ licenseExpression: nuspec.licenseExpression, requireLicenseAcceptance: nuspec.requireLicenseAcceptance },
      ...{ published: row.created_at.toISOString(), listed: true, packageContent },
      dependencyGroups: nuspec.dependencyGroups.map((group) => dependencyGroupDocument(id, group)),
    },
  };
}

/** The results of a search. Downloads are not counted. */
export function searchResults(urls: NugetUrls, total: number, packages: readonly NugetPackageMatch[]): object {
  const data = packages.map(({ newest, versions }) => {
    const base = `${urls.base}/metadata/${newest.name_key}`;
    return {
      ...{ '@id': `${base}/index.json`, '@type': 'Package', id: newest.name, version: newest.version },
      ...{ title: newest.nuspec.title || newest.name, authors: newest.nuspec.authors, ...describePackage(newest) },
      ...{ totalDownloads: 0, verified: true, registration: `${base}/index.json` },
      versions: versions.map((version) => ({ '@id': `${base}/${version}.json`, version, downloads: 0 })),
    };
  });
  return { totalHits: total, data };
}

function describePackage({ nuspec }: NugetRow): object {
  const { description, summary, tags, projectUrl, licenseUrl, iconUrl } = nuspec;
  return { description, summary, tags, projectUrl, licenseUrl, iconUrl };
}

function dependencyGroupDocument(leafId: string, { targetFramework, dependencies }: DependencyGroup): object {
  const id = `${leafId}#dependencyGroup${targetFramework === '' ? '' : `/${targetFramework.toLowerCase()}`}`;
  return {
    ...{ '@id': id, '@type': 'PackageDependencyGroup' },
    ...(targetFramework === '' ? {} : { targetFramework }),
    dependencies: dependencies.map((one) => ({
      '@id': `${id}/${nameKeyOf('nuget', one.id)}`,
      ...{ '@type': 'PackageDependency', id: one.id, range: normalizeVersionRange(one.version) },
    })),
  };
}

/** A version alone means that version or a later one. */
function normalizeVersionRange(version: string): string {
  if (version.trim() === '') return '(, )';
  return /^[[(]/.test(version.trim()) ? version.trim() : `[${version.trim()}, )`;
}
