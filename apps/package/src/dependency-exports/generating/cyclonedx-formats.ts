import { randomUUID } from 'node:crypto';
import type { DependencyComponentsQueries, DistinctComponent } from './components.queries';
import type { DependencySource, SourceReport } from './dependency-sources';
import { cycloneDxLicenses } from './spdx-licenses';

/** Version, address and time of this instance, which documents name as their generator. */
export interface DocumentMaker {
  readonly version: string;
  /** Address of this instance. */
  readonly url: string;
  readonly now: Date;
}

const NAME = 'Rookery';
/** Component types that CycloneDX 1.4 knows. */
const TYPES_1_4 = new Set([
  ...['application', 'framework', 'library', 'container', 'operating-system', 'device', 'firmware', 'file'],
]);

/** Writes the merged reports of a pipeline as CycloneDX 1.4. Source: reference packages-and-admin 6.3. */
export function writeSbom(
  source: DependencySource,
  components: DependencyComponentsQueries,
  maker: DocumentMaker,
): AsyncGenerator<string> {
  const head = {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.4', serialNumber: `urn:uuid:${randomUUID()}`, version: 1 },
    metadata: {
      timestamp: maker.now.toISOString(),
      tools: listCycloneDxTools(source.reports, maker),
      authors: [{ name: NAME }],
      properties: distinctValues(source.reports.flatMap(({ properties }) => properties)),
    },
  };
  const write = ({ ref, name, version, component_type: type, purl, licenses }: DistinctComponent): object => ({
    ...{ name, version: version ?? '', 'bom-ref': ref },
    ...(purl === null ? {} : { purl }),
    ...{ type: TYPES_1_4.has(type) ? type : 'library', licenses: cycloneDxLicenses(licenses) },
  });
  return writeCycloneDx(head, source, components, write);
}

/** Writes the dependencies of a project as CycloneDX 1.6. Source: reference packages-and-admin 6.3. */
export function writeCycloneDx16Sbom(
  source: DependencySource,
  components: DependencyComponentsQueries,
  maker: DocumentMaker,
): AsyncGenerator<string> {
  const vcs = { type: 'vcs', url: `${maker.url}/${source.fullPath}` };
  const head = {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: `urn:uuid:${randomUUID()}`, version: 1 },
    metadata: {
      timestamp: maker.now.toISOString(),
      tools: listCycloneDxTools([], maker),
      manufacturer: { name: NAME, url: [maker.url], contact: [] },
      component: { type: 'application', name: source.name, externalReferences: [vcs] },
    },
  };
  const write = ({ ref, name, version, purl, licenses }: DistinctComponent): object => ({
    ...{ name, version: version ?? '', type: 'library', 'bom-ref': ref },
    ...(purl === null ? {} : { purl }),
    licenses: cycloneDxLicenses(licenses),
  });
  return writeCycloneDx(head, source, components, write);
}

async function* writeCycloneDx(
  head: object,
  { reports }: DependencySource,
  components: DependencyComponentsQueries,
  toDocumentComponent: (component: DistinctComponent) => object,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"components":[`;
  let separator = '';
  for await (const component of components.listDistinct(reports.map(({ id }) => id))) {
    yield separator + JSON.stringify(toDocumentComponent(component));
    separator = ',';
  }
  yield ']}';
}

/** Returns Rookery and the tools that made the reports, in the form of CycloneDX 1.4. */
function listCycloneDxTools(reports: readonly SourceReport[], { version }: DocumentMaker): readonly object[] {
  const tools = reports
    .flatMap((report) => report.tools)
    .map((tool) => {
      return Object.fromEntries(Object.entries(tool).filter(([, value]) => value !== null));
    });
  return distinctValues([
    { vendor: NAME, name: NAME, version },
    ...tools.filter((tool) => Object.keys(tool).length > 0),
  ]);
}

function distinctValues<T extends object>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
