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
interface Snapshot {
  readonly timestamp: string;
  readonly buildNumber: string;
  readonly localCopy: string;
}

/** Contents of `maven-metadata.xml`. Shape: an absent element is the empty text, an empty list or null. */
export interface Metadata {
  readonly groupId: string;
  readonly artifactId: string;
  readonly version: string;
  readonly latest: string;
  readonly release: string;
  readonly versions: readonly string[];
  readonly snapshot: Snapshot | null;
  readonly snapshotVersions: readonly SnapshotVersion[];
  readonly lastUpdated: string;
  readonly plugins: readonly Plugin[];
}

/** A parsed element: its children by name, each name with one or more elements or texts. */
type Element = Readonly<Record<string, readonly (Element | string)[]>>;

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
export function parseMetadata(bytes: Buffer): Metadata {
  const document = parsed(decodeXml(bytes, 'maven-metadata.xml'));
  if (!Object.hasOwn(document, 'metadata')) throw new Refused('maven-metadata.xml has no metadata');
  const root = childrenOf(document, 'metadata')[0] ?? {};
  const versioning = childrenOf(root, 'versioning')[0] ?? {};
  const snapshot = childrenOf(versioning, 'snapshot')[0];
  return {
    ...{ groupId: leaf(root, 'groupId'), artifactId: leaf(root, 'artifactId'), version: leaf(root, 'version') },
    ...{ latest: leaf(versioning, 'latest'), release: leaf(versioning, 'release') },
    lastUpdated: leaf(versioning, 'lastUpdated'),
    versions: childrenOf(versioning, 'versions').flatMap((list) => leaves(list, 'version')),
    snapshot: snapshot ? asSnapshot(snapshot) : null,
    snapshotVersions: listed(versioning, 'snapshotVersions', 'snapshotVersion').map(asSnapshotVersion),
    plugins: listed(root, 'plugins', 'plugin').map(asPlugin),
  };
}

/** Writes a document. The same contents give the same bytes. Empty elements are left out. */
export function renderMetadata(metadata: Metadata): string {
  const { snapshot, versions, snapshotVersions, plugins } = metadata;
  const versioning = [
    ...texts({ latest: metadata.latest, release: metadata.release }),
    ...(snapshot ? element('snapshot', texts({ ...snapshot })) : []),
    ...(versions.length > 0
      ? element(
          'versions',
          versions.flatMap((version) => texts({ version })),
        )
      : []),
    ...texts({ lastUpdated: metadata.lastUpdated }),
    ...(snapshotVersions.length > 0
      ? element(
          'snapshotVersions',
          snapshotVersions.flatMap((one) => element('snapshotVersion', texts({ ...one }))),
        )
      : []),
  ];
  const lines = [
    ...texts({ groupId: metadata.groupId, artifactId: metadata.artifactId, version: metadata.version }),
    ...(versioning.length > 0 ? element('versioning', versioning) : []),
    ...(plugins.length > 0
      ? element(
          'plugins',
          plugins.flatMap((one) => element('plugin', texts({ ...one }))),
        )
      : []),
  ];
  const body = ['<metadata modelVersion="1.1.0">', ...lines.map(indented), '</metadata>'];
  return `<?xml version="1.0" encoding="UTF-8"?>\n${body.join('\n')}\n`;
}

function parsed(text: string): Element {
  try {
    return parser.parse(text, true) as Element;
  } catch {
    throw new Refused('maven-metadata.xml is not well-formed XML');
  }
}

function childrenOf(parent: Element, name: string): readonly Element[] {
  const found = Object.hasOwn(parent, name) ? parent[name]! : [];
  return found.filter((child): child is Element => typeof child === 'object');
}

function listed(parent: Element, list: string, item: string): readonly Element[] {
  return childrenOf(parent, list).flatMap((one) => childrenOf(one, item));
}

function leaves(parent: Element, name: string): readonly string[] {
  const found = Object.hasOwn(parent, name) ? parent[name]! : [];
  return found
    .filter((child) => typeof child === 'string' && child !== '')
    .map((child) => unescapeXml(child as string));
}

function leaf(parent: Element, name: string): string {
  return leaves(parent, name)[0] ?? '';
}

function asSnapshot(found: Element): Snapshot {
  return {
    timestamp: leaf(found, 'timestamp'),
    buildNumber: leaf(found, 'buildNumber'),
    localCopy: leaf(found, 'localCopy'),
  };
}

function asSnapshotVersion(found: Element): SnapshotVersion {
  return {
    classifier: leaf(found, 'classifier'),
    extension: leaf(found, 'extension'),
    value: leaf(found, 'value'),
    updated: leaf(found, 'updated'),
  };
}

function asPlugin(found: Element): Plugin {
  return { name: leaf(found, 'name'), prefix: leaf(found, 'prefix'), artifactId: leaf(found, 'artifactId') };
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

function element(name: string, lines: readonly string[]): string[] {
  return [`<${name}>`, ...lines.map(indented), `</${name}>`];
}

function texts(values: Readonly<Record<string, string>>): string[] {
  const filled = Object.entries(values).filter(([, value]) => value !== '');
  return filled.map(([name, value]) => `<${name}>${escaped(value)}</${name}>`);
}

function indented(line: string): string {
  return `  ${line}`;
}
