import { JsonText } from '@rookery/api-v4';
import type { JsonSchema } from '@rookery/api-v4';
import { nameKeyOf } from '../../packages/package-types';
import type { NugetPackageMatch, NugetRow } from './nuget.queries';
import { renderFileName } from './nuget-releases';
import type { DependencyGroup } from './nuspec';

/** A text with its description. */
const text = (description: string): JsonSchema => ({ type: 'string', description });
const integer = (description: string): JsonSchema => ({ type: 'integer', description });
const flag = (description: string): JsonSchema => ({ type: 'boolean', description });
const list = (items: JsonSchema, description: string): JsonSchema => ({ type: 'array', items, description });
const object = (properties: Readonly<Record<string, JsonSchema>>, optional: readonly string[] = []): JsonSchema => ({
  ...{ type: 'object', properties },
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});

const ADDRESS = text('Address of this document.');
const KIND = text('Type of the object in the protocol.');
const PACKAGE_CONTENT = text('Address of the package.');
const ALL_VERSIONS = text('Address of the document about all versions.');
const DESCRIBED = {
  description: text('Description of the package.'),
  summary: text('Short description.'),
  tags: text('Tags, separated by spaces.'),
  projectUrl: text('Address of the project, empty without one.'),
  licenseUrl: text('Address of the license, empty without one.'),
  iconUrl: text('Address of an icon, empty without one.'),
} as const;
const PACKAGE_ID = text('Name of the package as it was published.');
const VERSION = text('Version as it was published.');
const AUTHORS = text('Authors, separated by commas.');

const DEPENDENCY = object({
  '@id': ADDRESS,
  '@type': KIND,
  id: text('Name of the package that is needed.'),
  range: text('Range of versions in the form of intervals.'),
});
const DEPENDENCY_GROUP = object(
  {
    '@id': ADDRESS,
    '@type': KIND,
    targetFramework: text('Framework that needs the packages; absent for all.'),
    dependencies: list(DEPENDENCY, 'Packages that are needed.'),
  },
  ['targetFramework'],
);
const ENTRY = object({
  ...{ '@id': ADDRESS, '@type': KIND, id: PACKAGE_ID, version: VERSION, authors: AUTHORS, ...DESCRIBED },
  licenseExpression: text('SPDX expression of the license, empty without one.'),
  requireLicenseAcceptance: flag('Whether clients must ask to accept the license.'),
  published: { ...text('Time of the first upload.'), format: 'date-time' },
  listed: flag('Always true.'),
  packageContent: PACKAGE_CONTENT,
  dependencyGroups: list(DEPENDENCY_GROUP, 'Dependencies by framework.'),
});
export const LEAF = object({
  '@id': ADDRESS,
  packageContent: PACKAGE_CONTENT,
  registration: ALL_VERSIONS,
  catalogEntry: { ...ENTRY, description: 'Description of the version.' },
});
const PAGE = object({
  '@id': ADDRESS,
  lower: text('Oldest version.'),
  upper: text('Newest version.'),
  count: integer('Number of versions.'),
  items: list(LEAF, 'Versions, the oldest first.'),
});
export const REGISTRATION = object({
  '@id': ADDRESS,
  count: integer('Number of pages, always 1.'),
  items: list(PAGE, 'The page with all versions.'),
});
export const SERVICE_INDEX = object({
  version: text('Version of the protocol.'),
  resources: list(
    object({ '@id': text('Address of the part.'), '@type': KIND, comment: text('Purpose of the part.') }),
    'Parts of the registry.',
  ),
});
const FOUND_VERSION = object({
  '@id': text('Address of the document about the version.'),
  version: VERSION,
  downloads: integer('Always 0: downloads are not counted.'),
});
const FOUND = object({
  ...{ '@id': ADDRESS, '@type': KIND, id: PACKAGE_ID, version: text('Newest version.') },
  title: text('Title, or the name without one.'),
  ...{ authors: AUTHORS, ...DESCRIBED },
  totalDownloads: integer('Always 0: downloads are not counted.'),
  verified: flag('Always true.'),
  registration: ALL_VERSIONS,
  versions: list(FOUND_VERSION, 'Newest versions, the oldest of them first.'),
});
export const SEARCH = object({
  totalHits: integer('Number of all results.'),
  data: list(FOUND, 'Packages by name.'),
});
export const CONTAINER = object({
  versions: list({ type: 'string' }, 'Versions in lower case, the oldest first.'),
});
export const AUTOCOMPLETE = object({
  totalHits: integer('Number of all results.'),
  data: list({ type: 'string' }, 'Names of packages, or versions of one, the oldest first.'),
});

/** URLs of the registry that the request came through. Shape: `base` without a slash at its end. */
export interface NugetUrls {
  readonly base: string;
  /** Address of the registry of a project. */
  readonly ofProject: (id: number) => string;
}

/** The addresses of a registry. Only that of a project takes packages. */
export function serviceIndex(base: string, kind: 'project' | 'group'): object {
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

/** Versions of a package, in one page. Shape: the oldest first, at least one. Bounds: 16 Mi characters of versions. */
export function registrationDocument(urls: NugetUrls, rows: readonly NugetRow[]): JsonText {
  const id = `${urls.base}/metadata/${rows[0]!.name_key}/index.json`;
  const leaves = newestLeaves(urls, rows);
  const [lower, upper] = [rows.at(-leaves.length)!.version_key, rows.at(-1)!.version_key];
  const page = JSON.stringify({ '@id': id, lower, upper, count: leaves.length });
  const items = `[${page.slice(0, -1)},"items":[${leaves.join(',')}]}]`;
  return new JsonText(`{"@id":${JSON.stringify(id)},"count":1,"items":${items}}`);
}

/** The JSON of the newest versions, the oldest first. Shape: at least one. */
function newestLeaves(urls: NugetUrls, rows: readonly NugetRow[]): readonly string[] {
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
  const packageContent = `${urls.ofProject(row.project_id)}/download/${key}/${version}/${renderFileName(key, version, 'nupkg')}`;
  return {
    '@id': id,
    packageContent,
    registration: `${urls.base}/metadata/${key}/index.json`,
    catalogEntry: {
      ...{ '@id': id, '@type': 'PackageDetails', id: row.name, version: row.version, authors: nuspec.authors },
      ...describePackage(row),
      ...{ licenseExpression: nuspec.licenseExpression, requireLicenseAcceptance: nuspec.requireLicenseAcceptance },
      ...{ published: row.created_at.toISOString(), listed: true, packageContent },
      dependencyGroups: nuspec.dependencyGroups.map((group) => dependencyGroup(id, group)),
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

function dependencyGroup(leafId: string, { targetFramework, dependencies }: DependencyGroup): object {
  const id = `${leafId}#dependencyGroup${targetFramework === '' ? '' : `/${targetFramework.toLowerCase()}`}`;
  return {
    ...{ '@id': id, '@type': 'PackageDependencyGroup' },
    ...(targetFramework === '' ? {} : { targetFramework }),
    dependencies: dependencies.map((one) => ({
      '@id': `${id}/${nameKeyOf('nuget', one.id)}`,
      ...{ '@type': 'PackageDependency', id: one.id, range: versionRange(one.version) },
    })),
  };
}

/** A version alone means that version or a later one. */
function versionRange(version: string): string {
  if (version.trim() === '') return '(, )';
  return /^[[(]/.test(version.trim()) ? version.trim() : `[${version.trim()}, )`;
}
