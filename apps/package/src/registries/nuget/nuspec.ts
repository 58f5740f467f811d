import { XMLParser } from 'fast-xml-parser';
import { Refused } from '@rookery/kernel';
import { unescapeXml, decodeXml } from '../../packages/archives/xml-text';

interface NugetDependency {
  readonly id: string;
  /** Range of versions, empty for any. */
  readonly version: string;
}
export interface DependencyGroup {
  readonly targetFramework: string;
  readonly dependencies: readonly NugetDependency[];
}

/** Fields of a `.nuspec` that documents for clients show. A missing text is empty. */
export interface Nuspec {
  readonly id: string;
  readonly version: string;
  readonly title: string;
  readonly authors: string;
  readonly description: string;
  readonly summary: string;
  readonly tags: string;
  readonly projectUrl: string;
  readonly licenseUrl: string;
  readonly licenseExpression: string;
  readonly iconUrl: string;
  readonly requireLicenseAcceptance: boolean;
  readonly dependencyGroups: readonly DependencyGroup[];
  readonly packageTypes: readonly string[];
}

const ID = /^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9._+-]*$/;
const MAX_ID_LENGTH = 255;
/** Longest text that documents show. Units: characters. */
const MAX_TEXT = 4000;
/** All fields together, as JSON. Documents hold those of many versions. Units: characters. */
const MAX_FIELDS = 32 * 1024;
/** Most dependencies and groups of dependencies together. Both count, because documents have a long URL for each. */
const MAX_DEPENDENCIES = 300;

type XmlElement = Readonly<Record<string, readonly (XmlElement | string)[] | string>>;

const parser = new XMLParser({
  attributeNamePrefix: '@',
  ignoreAttributes: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  removeNSPrefix: true,
  maxNestedTags: 64,
  isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
});

/** Reads a `.nuspec`. Unknown elements are ignored. Errors: Refused. Source: reference packages-and-admin 4.9. */
export function parseNuspec(bytes: Buffer): Nuspec {
  const metadata = findChildren(findChildren(parseNuspecXml(bytes), 'package')[0], 'metadata')[0];
  if (!metadata) throw nugetValidationRefusal('nuspec has no metadata');
  // PostgreSQL stores no half of a surrogate pair in JSON, which a cut may leave.
  const text = (name: string): string =>
    childTexts(metadata, name)[0]
      ?.slice(0, MAX_TEXT)
      .replace(/\p{Cs}/gu, '') ?? '';
  const found: Nuspec = {
    ...{ id: text('id'), version: text('version'), title: text('title'), authors: text('authors') },
    ...{ description: text('description'), summary: text('summary'), tags: text('tags') },
    ...{ projectUrl: text('projectUrl'), licenseUrl: text('licenseUrl'), iconUrl: text('iconUrl') },
    licenseExpression: licenseExpression(metadata),
    requireLicenseAcceptance: text('requireLicenseAcceptance').toLowerCase() === 'true',
    dependencyGroups: findChildren(metadata, 'dependencies').flatMap(parseDependencyGroups),
    packageTypes: findChildren(metadata, 'packageTypes').flatMap((types) =>
      findChildren(types, 'packageType').map((type) => readAttribute(type, 'name')),
    ),
  };
  if (found.id === '') throw nugetValidationRefusal('nuspec has no id');
  if (found.id.length > MAX_ID_LENGTH || !ID.test(found.id)) throw nugetValidationRefusal('Name is invalid');
  const count = found.dependencyGroups.reduce((sum, { dependencies }) => sum + 1 + dependencies.length, 0);
  if (count > MAX_DEPENDENCIES) throw nugetValidationRefusal('nuspec has too many dependencies');
  if (JSON.stringify(found).length > MAX_FIELDS) throw nugetValidationRefusal('nuspec is too large');
  return found;
}

/** Refusal of a description. */
export function nugetValidationRefusal(problem: string): Refused {
  return new Refused(`Validation failed: ${problem}`, { verbatim: true });
}

function parseNuspecXml(bytes: Buffer): XmlElement {
  const text = decodeXml(bytes, 'nuspec');
  try {
    return parser.parse(text, true) as XmlElement;
  } catch {
    throw nugetValidationRefusal('nuspec is not well-formed XML');
  }
}

/** The older form has dependencies without groups. */
function parseDependencyGroups(list: XmlElement): readonly DependencyGroup[] {
  const groups = findChildren(list, 'group').map((group) => ({
    targetFramework: readAttribute(group, 'targetFramework'),
    dependencies: parseDependencies(group),
  }));
  const without = parseDependencies(list);
  return without.length > 0 ? [{ targetFramework: '', dependencies: without }, ...groups] : groups;
}

function parseDependencies(list: XmlElement): readonly NugetDependency[] {
  const found = findChildren(list, 'dependency').map((one) => ({
    id: readAttribute(one, 'id'),
    version: readAttribute(one, 'version'),
  }));
  return found.filter(({ id }) => id !== '');
}

function licenseExpression(metadata: XmlElement): string {
  const [license] = findChildren(metadata, 'license');
  if (!license || readAttribute(license, 'type') !== 'expression') return '';
  return typeof license['#text'] === 'string' ? unescapeXml(license['#text']) : (childTexts(license, '#text')[0] ?? '');
}

function childValues(parent: XmlElement | undefined, name: string): readonly (XmlElement | string)[] {
  const found = parent && Object.hasOwn(parent, name) ? parent[name] : undefined;
  return Array.isArray(found) ? (found as readonly (XmlElement | string)[]) : [];
}

function findChildren(parent: XmlElement | undefined, name: string): readonly XmlElement[] {
  return childValues(parent, name).filter((child): child is XmlElement => typeof child === 'object');
}

function childTexts(parent: XmlElement, name: string): readonly string[] {
  const texts = childValues(parent, name).map((child) =>
    typeof child === 'string' ? child : typeof child['#text'] === 'string' ? child['#text'] : '',
  );
  // PostgreSQL stores no null character, which the parser of texts refuses before.
  return texts.map((text) => unescapeXml(text).trim());
}

/** Errors: Refused for a long value, since documents repeat it. */
function readAttribute(element: XmlElement, name: string): string {
  const value = Object.hasOwn(element, `@${name}`) ? element[`@${name}`] : undefined;
  const text = typeof value === 'string' ? unescapeXml(value) : '';
  if (text.length > MAX_ID_LENGTH) throw nugetValidationRefusal(`${name} is too long`);
  return text;
}
