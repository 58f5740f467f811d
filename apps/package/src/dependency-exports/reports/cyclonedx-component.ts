import { createHash } from 'node:crypto';
import { PackageURL } from 'packageurl-js';
import spdxLicenses from 'spdx-license-list';
import type { ComponentLicense } from './dependency-component.entity';
import { readField, readList, readText } from './cyclonedx-shape';
import { InvalidJsonDocument } from './json-picker';
import type { PickedValue } from './json-picker';

/** A component as it is stored. */
export interface ComponentFacts {
  readonly ref: string;
  readonly name: string;
  readonly version: string | null;
  readonly component_type: string;
  readonly purl: string | null;
  readonly packager: string | null;
  readonly licenses: readonly ComponentLicense[];
}

/** Package managers whose name differs from the type of their package URLs. Source: reference packages-and-admin 6.4. */
const PACKAGERS: Readonly<Record<string, string>> = { pypi: 'pip', gem: 'bundler', golang: 'go' };
/** Types of all read versions of CycloneDX. */
const TYPES = new Set([
  ...['application', 'framework', 'library', 'container', 'operating-system', 'device', 'firmware', 'file'],
  ...['platform', 'device-driver', 'machine-learning-model', 'data', 'cryptographic-asset'],
]);
/** Units: bytes. Rows are sorted by it, and an index holds no longer ones. */
const MAX_REF_BYTES = 2000;
/** Units: characters. */
const MAX_LICENSE = 255;
/** Maximum length of a name with its group, and of a version, since each dependent repeats them. Units: characters. */
const MAX_NAME = 255;

/** Returns the facts about a component of a document. Errors: InvalidJsonDocument without a name, and for a long one. */
export function parseCycloneDxComponent(component: PickedValue): ComponentFacts {
  const written = readText(component, 'name');
  if (written === null) throw new InvalidJsonDocument('a component has no name');
  const url = parsePurl(component);
  const group = readText(component, 'group') ?? url?.namespace ?? null;
  const name = group === null || written.startsWith(`${group}/`) ? written : `${group}/${written}`;
  const version = readText(component, 'version') ?? url?.version ?? null;
  if (name.length > MAX_NAME || (version ?? '').length > MAX_NAME)
    throw new InvalidJsonDocument(`a name or version of a component is longer than ${MAX_NAME} characters`);
  const purl = url && readText(component, 'purl');
  const type = readText(component, 'type');
  return {
    ...{ ref: purl ?? uuidUrnOfNameAndVersion(name, version), name, version, purl },
    component_type: type !== null && TYPES.has(type) ? type : 'library',
    packager: url ? (PACKAGERS[url.type] ?? url.type) : null,
    licenses: parseLicenses(component),
  };
}

interface PackageUrlFacts {
  readonly type: string;
  readonly namespace: string | null;
  readonly version: string | null;
}

/** Returns the package URL of a component; null without a valid one. */
function parsePurl(component: PickedValue): PackageUrlFacts | null {
  const purl = readText(component, 'purl');
  if (purl === null || Buffer.byteLength(purl) > MAX_REF_BYTES) return null;
  try {
    const { type, namespace, version } = PackageURL.fromString(purl) as unknown as Record<string, string | undefined>;
    return type ? { type, namespace: namespace || null, version: version || null } : null;
  } catch {
    return null;
  }
}

/** Returns the licenses of a component. Values that name none are left out. */
function parseLicenses(component: PickedValue): readonly ComponentLicense[] {
  return readList(component, 'licenses').flatMap((choice): ComponentLicense[] => {
    const license = readField(choice, 'license');
    const named = readText(license, 'id') ?? readText(choice, 'expression') ?? readText(license, 'name');
    if (named === null || named.length > MAX_LICENSE) return [];
    return [Object.hasOwn(spdxLicenses, named) ? { spdx: named, name: null } : { spdx: null, name: named }];
  });
}

/**
 * Returns a UUID (version 8) that is the same for the same name and version: `urn:uuid:` and lower-case hexadecimal
 * digits.
 */
function uuidUrnOfNameAndVersion(name: string, version: string | null): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([name, version]))
    .digest('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
