import { XMLParser } from 'fast-xml-parser';
import { Refused } from '@rookery/kernel';
import { unescapeXml, decodeXml } from '../../../packages/archives/xml-text';

/** One build of a file of a snapshot. `value` is the version with timestamp and build number. */
export interface SnapshotVersion {
  readonly classifier: string;
  readonly extension: string;
  readonly value: string;
  readonly updated: string;
}

/** A plugin of a group, called by its prefix. */
export interface Plugin {
  readonly name: string;
  readonly prefix: string;
  readonly artifactId: string;
}

/** The newest build of a snapshot. */
interface SnapshotBuild {
  readonly timestamp: string;
  readonly buildNumber: string;
  readonly localCopy: string;
}

/** Contents of `maven-metadata.xml`. A missing element is an empty text, an empty list or null. */
export interface MavenMetadata {
  readonly groupId: string;
  readonly artifactId: string;
  readonly version: string;
  readonly latest: string;
  readonly release: string;
  readonly versions: readonly string[];
  readonly snapshot: SnapshotBuild | null;
  readonly snapshotVersions: readonly SnapshotVersion[];
  readonly lastUpdated: string;
  readonly plugins: readonly Plugin[];
}

/** A parsed element: its children by name, each name with one or more elements or texts. */
type XmlElement = Readonly<Record<string, readonly (XmlElement | string)[]>>;

const MAX_DEPTH = 64;

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  processEntities: false,
  maxNestedTags: MAX_DEPTH,
  isArray: () => true,
});

/**
 * Reads an uploaded `maven-metadata.xml`. Unknown elements and all attributes are ignored.
 * Errors: Refused for bytes that are no such document, and beyond the bounds of `decodeXml`.
 */
export function parseMavenMetadata(bytes: Buffer): MavenMetadata {
  const document = parseMavenMetadataXml(decodeXml(bytes, 'maven-metadata.xml'));
  if (!Object.hasOwn(document, 'metadata')) throw new Refused('maven-metadata.xml has no metadata');
  const root = findChildren(document, 'metadata')[0] ?? {};
  const versioning = findChildren(root, 'versioning')[0] ?? {};
  const snapshot = findChildren(versioning, 'snapshot')[0];
  return {
    ...{
      groupId: findFirstChildText(root, 'groupId'),
      artifactId: findFirstChildText(root, 'artifactId'),
      version: findFirstChildText(root, 'version'),
    },
    ...{ latest: findFirstChildText(versioning, 'latest'), release: findFirstChildText(versioning, 'release') },
    lastUpdated: findFirstChildText(versioning, 'lastUpdated'),
    versions: findChildren(versioning, 'versions').flatMap((list) => findChildTexts(list, 'version')),
    snapshot: snapshot ? parseSnapshotBuild(snapshot) : null,
    snapshotVersions: listItemsOf(versioning, 'snapshotVersions', 'snapshotVersion').map(parseSnapshotVersion),
    plugins: listItemsOf(root, 'plugins', 'plugin').map(parsePlugin),
  };
}

/** Writes a document. The same contents give the same bytes. Empty elements are left out. */
export function renderMavenMetadata(metadata: MavenMetadata): string {
  const { snapshot, versions, snapshotVersions, plugins } = metadata;
  const versioning = [
    ...renderTextElements({ latest: metadata.latest, release: metadata.release }),
    ...(snapshot ? wrapInElement('snapshot', renderTextElements({ ...snapshot })) : []),
    ...(versions.length > 0
      ? wrapInElement(
          'versions',
          versions.flatMap((version) => renderTextElements({ version })),
        )
      : []),
    ...renderTextElements({ lastUpdated: metadata.lastUpdated }),
    ...(snapshotVersions.length > 0
      ? wrapInElement(
          'snapshotVersions',
          snapshotVersions.flatMap((one) => wrapInElement('snapshotVersion', renderTextElements({ ...one }))),
        )
      : []),
  ];
  const lines = [
    ...renderTextElements({ groupId: metadata.groupId, artifactId: metadata.artifactId, version: metadata.version }),
    ...(versioning.length > 0 ? wrapInElement('versioning', versioning) : []),
    ...(plugins.length > 0
      ? wrapInElement(
          'plugins',
          plugins.flatMap((one) => wrapInElement('plugin', renderTextElements({ ...one }))),
        )
      : []),
  ];
  const body = ['<metadata modelVersion="1.1.0">', ...lines.map(indentLine), '</metadata>'];
  return `<?xml version="1.0" encoding="UTF-8"?>\n${body.join('\n')}\n`;
}

function parseMavenMetadataXml(text: string): XmlElement {
  try {
    return parser.parse(text, true) as XmlElement;
  } catch {
    throw new Refused('maven-metadata.xml is not well-formed XML');
  }
}

function findChildren(parent: XmlElement, name: string): readonly XmlElement[] {
  const found = Object.hasOwn(parent, name) ? parent[name]! : [];
  return found.filter((child): child is XmlElement => typeof child === 'object');
}

function listItemsOf(parent: XmlElement, list: string, item: string): readonly XmlElement[] {
  return findChildren(parent, list).flatMap((one) => findChildren(one, item));
}

function findChildTexts(parent: XmlElement, name: string): readonly string[] {
  const found = Object.hasOwn(parent, name) ? parent[name]! : [];
  return found
    .filter((child) => typeof child === 'string' && child !== '')
    .map((child) => unescapeXml(child as string));
}

function findFirstChildText(parent: XmlElement, name: string): string {
  return findChildTexts(parent, name)[0] ?? '';
}

function parseSnapshotBuild(found: XmlElement): SnapshotBuild {
  return {
    timestamp: findFirstChildText(found, 'timestamp'),
    buildNumber: findFirstChildText(found, 'buildNumber'),
    localCopy: findFirstChildText(found, 'localCopy'),
  };
}

function parseSnapshotVersion(found: XmlElement): SnapshotVersion {
  return {
    classifier: findFirstChildText(found, 'classifier'),
    extension: findFirstChildText(found, 'extension'),
    value: findFirstChildText(found, 'value'),
    updated: findFirstChildText(found, 'updated'),
  };
}

function parsePlugin(found: XmlElement): Plugin {
  return {
    name: findFirstChildText(found, 'name'),
    prefix: findFirstChildText(found, 'prefix'),
    artifactId: findFirstChildText(found, 'artifactId'),
  };
}

function escapeXml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

function wrapInElement(name: string, lines: readonly string[]): string[] {
  return [`<${name}>`, ...lines.map(indentLine), `</${name}>`];
}

function renderTextElements(values: Readonly<Record<string, string>>): string[] {
  const filled = Object.entries(values).filter(([, value]) => value !== '');
  return filled.map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`);
}

function indentLine(line: string): string {
  return `  ${line}`;
}
