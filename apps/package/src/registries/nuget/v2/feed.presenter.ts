import { escapeHtml } from '@rookery/kernel';
import { renderNugetFileName } from '../nuget-releases';
import type { DependencyGroup } from '../nuspec';
import type { FeedEntry, FeedPage } from './feed.queries';

/** URLs of a feed. `registry` is that of the project and `base` that of the feed, both without a slash at their end. */
export interface FeedUrls {
  readonly registry: string;
  readonly base: string;
}

const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n';
const NAMESPACES =
  'xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" ' +
  'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"';
const SCHEME = 'http://schemas.microsoft.com/ado/2007/08/dataservices/scheme';

/** The document that leads clients to the packages of a feed. */
export function nugetFeedServiceDocument({ base }: FeedUrls): string {
  return (
    `${DECLARATION}<service xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom" ` +
    `xml:base="${escapeHtml(`${base}/`)}"><workspace><atom:title type="text">Default</atom:title>` +
    `<collection href="Packages"><atom:title type="text">Packages</atom:title></collection></workspace></service>\n`
  );
}

const TEXTS = ['Id', 'Version'];
const OPTIONAL_TEXTS = [
  ...['NormalizedVersion', 'Authors', 'Dependencies', 'Description', 'IconUrl', 'LicenseUrl', 'PackageHash'],
  ...['PackageHashAlgorithm', 'ProjectUrl', 'Summary', 'Tags', 'Title'],
];
const FLAGS = ['IsLatestVersion', 'IsAbsoluteLatestVersion', 'IsPrerelease', 'Listed', 'RequireLicenseAcceptance'];
const createFeedPropertyXmlRenderer = (type: string, isNullable: boolean) => (name: string) =>
  `<Property Name="${name}" Type="Edm.${type}"${isNullable ? '' : ' Nullable="false"'}/>`;
const feedParameterXml = (name: string, type: string): string => `<Parameter Name="${name}" Type="Edm.${type}"/>`;
const feedOperationXml = (name: string, ...parameters: readonly string[]): string =>
  `<FunctionImport Name="${name}" ReturnType="Collection(NuGetGallery.V2FeedPackage)" EntitySet="Packages" ` +
  `m:HttpMethod="GET">${parameters.join('')}</FunctionImport>`;

/** The types and operations of a feed. Clients read the names of operations. */
export const FEED_METADATA =
  `${DECLARATION}<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">` +
  '<edmx:DataServices m:DataServiceVersion="2.0" ' +
  'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">' +
  '<Schema Namespace="NuGetGallery" xmlns="http://schemas.microsoft.com/ado/2006/04/edm">' +
  '<EntityType Name="V2FeedPackage" m:HasStream="true">' +
  '<Key><PropertyRef Name="Id"/><PropertyRef Name="Version"/></Key>' +
  TEXTS.map(createFeedPropertyXmlRenderer('String', false)).join('') +
  OPTIONAL_TEXTS.map(createFeedPropertyXmlRenderer('String', true)).join('') +
  FLAGS.map(createFeedPropertyXmlRenderer('Boolean', false)).join('') +
  ['Created', 'LastUpdated', 'Published'].map(createFeedPropertyXmlRenderer('DateTime', false)).join('') +
  createFeedPropertyXmlRenderer('Int32', false)('DownloadCount') +
  createFeedPropertyXmlRenderer('Int64', false)('PackageSize') +
  '</EntityType><EntityContainer Name="FeedContext" m:IsDefaultEntityContainer="true">' +
  '<EntitySet Name="Packages" EntityType="NuGetGallery.V2FeedPackage"/>' +
  feedOperationXml(
    'Search',
    feedParameterXml('searchTerm', 'String'),
    feedParameterXml('targetFramework', 'String'),
    feedParameterXml('includePrerelease', 'Boolean'),
  ) +
  feedOperationXml('FindPackagesById', feedParameterXml('id', 'String')) +
  '</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>\n';

/** A feed of versions. `next` is the URL of the next page, null on the last one. */
export function nugetFeedDocument(
  urls: FeedUrls,
  { total, entries }: FeedPage,
  page: { readonly title: string; readonly isCounted: boolean; readonly next: string | null },
): string {
  const updated = entries.reduce((latest, { created_at }) => (created_at > latest ? created_at : latest), new Date(0));
  return (
    `${DECLARATION}<feed xml:base="${escapeHtml(`${urls.base}/`)}" ${NAMESPACES}>` +
    (page.isCounted ? `<m:count>${total}</m:count>` : '') +
    `<title type="text">${page.title}</title><id>${escapeHtml(`${urls.base}/${page.title}`)}</id>` +
    `<updated>${updated.toISOString()}</updated><link rel="self" title="${page.title}" href="${page.title}"/>` +
    entries.map((one) => renderEntry(urls, one, '')).join('') +
    (page.next === null ? '' : `<link rel="next" href="${escapeHtml(page.next)}"/>`) +
    '</feed>\n'
  );
}

/** The document of one version. */
export function nugetFeedEntryDocument(urls: FeedUrls, found: FeedEntry): string {
  return `${DECLARATION}${renderEntry(urls, found, `xml:base="${escapeHtml(`${urls.base}/`)}" ${NAMESPACES}`)}\n`;
}

function renderEntry({ registry, base }: FeedUrls, row: FeedEntry, attributes: string): string {
  const { nuspec, name, name_key: key, version_key: version } = row;
  const path = `Packages(Id='${name}',Version='${row.version}')`;
  const file = `${registry}/download/${key}/${version}/${renderNugetFileName(key, version, 'nupkg')}`;
  return (
    `<entry${attributes === '' ? '' : ` ${attributes}`}><id>${escapeHtml(`${base}/${path}`)}</id>` +
    `<category term="NuGetGallery.V2FeedPackage" scheme="${SCHEME}"/>` +
    `<link rel="edit" title="V2FeedPackage" href="${escapeHtml(path)}"/><title type="text">${escapeHtml(name)}</title>` +
    `<summary type="text">${escapeHtml(nuspec.summary)}</summary><updated>${row.created_at.toISOString()}</updated>` +
    `<author><name>${escapeHtml(nuspec.authors)}</name></author>` +
    `<content type="application/zip" src="${escapeHtml(file)}"/>${renderEntryProperties(row)}</entry>`
  );
}

function renderEntryProperties(row: FeedEntry): string {
  const { nuspec } = row;
  const texts = {
    ...{ Id: row.name, Version: row.version, NormalizedVersion: row.version_key, Title: nuspec.title || row.name },
    ...{ Authors: nuspec.authors, Summary: nuspec.summary, Description: nuspec.description, Tags: nuspec.tags },
    ...{ ProjectUrl: nuspec.projectUrl, IconUrl: nuspec.iconUrl, LicenseUrl: nuspec.licenseUrl },
    Dependencies: nuspec.dependencyGroups.flatMap(dependencyTexts).join('|'),
    ...{ PackageHash: Buffer.from(row.sha256, 'hex').toString('base64'), PackageHashAlgorithm: 'SHA256' },
  };
  const flags = {
    ...{ IsLatestVersion: row.isLatestRelease, IsAbsoluteLatestVersion: row.isLatest },
    ...{ IsPrerelease: row.is_prerelease, Listed: true, RequireLicenseAcceptance: nuspec.requireLicenseAcceptance },
  };
  const time = row.created_at.toISOString();
  const typed = (name: string, type: string, value: string | number | boolean): string =>
    `<d:${name} m:type="Edm.${type}">${value}</d:${name}>`;
  return (
    '<m:properties>' +
    Object.entries(texts)
      .map(([name, text]) => `<d:${name}>${escapeHtml(text)}</d:${name}>`)
      .join('') +
    Object.entries(flags)
      .map(([name, flag]) => typed(name, 'Boolean', flag))
      .join('') +
    ['Created', 'LastUpdated', 'Published'].map((name) => typed(name, 'DateTime', time)).join('') +
    `${typed('DownloadCount', 'Int32', 0)}${typed('PackageSize', 'Int64', row.size)}</m:properties>`
  );
}

/** `<name>:<range>:<framework>`; a framework without dependencies has neither name nor range. */
function dependencyTexts({ targetFramework, dependencies }: DependencyGroup): readonly string[] {
  if (dependencies.length === 0) return [`::${targetFramework}`];
  return dependencies.map(({ id, version }) => `${id}:${version}:${targetFramework}`);
}
