import { pipeline, Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { DependencyComponentsQueries, Occurrence } from './components.queries';
import type { DependencySource, SourceReport } from './dependency-sources';
import { toSpdxLicense } from './spdx-licenses';

/** A component with the place where it was found. */
interface ReportedOccurrence {
  readonly source: DependencySource;
  readonly report: SourceReport;
  readonly occurrence: Occurrence;
}
type DependencySources = Iterable<DependencySource> | AsyncIterable<DependencySource>;

/** Source: reference packages-and-admin 6.3. */
const CSV_COLUMNS = [
  ...['Name', 'Version', 'Packager', 'Location', 'License Identifiers', 'Project', 'Vulnerabilities Detected'],
  'Vulnerability IDs',
];

/** Writes the list of a project as one JSON object. */
export async function* writeDependencyListJson(
  sources: DependencySources,
  components: DependencyComponentsQueries,
): AsyncGenerator<string> {
  let count = 0;
  for await (const found of listOccurrences(sources, components))
    yield (count++ === 0 ? '{"dependencies":[' : ',') + JSON.stringify(toJsonDependency(found));
  yield `${count === 0 ? '{"dependencies":[' : ''}],"report":{"status":"${count === 0 ? 'no_dependencies' : 'ok'}"}}`;
}

/** Writes a flat list, one object a line. */
export async function* writeFlatDependencyJson(
  sources: DependencySources,
  components: DependencyComponentsQueries,
): AsyncGenerator<string> {
  let isEmpty = true;
  for await (const found of listOccurrences(sources, components)) {
    const { name, packager, version, licenses, location } = toJsonDependency(found);
    yield `${isEmpty ? '[' : ',\n'}${JSON.stringify({ name, packager, version, licenses, location })}`;
    isEmpty = false;
  }
  yield isEmpty ? '[]' : ']';
}

/** Writes comma-separated values. Cells that a spreadsheet would calculate get an apostrophe in front. */
export function writeDependencyCsv(sources: DependencySources, components: DependencyComponentsQueries): Readable {
  const writer = stringify({ header: true, columns: CSV_COLUMNS, escape_formulas: true });
  // Errors reach the reader of the last stream.
  return pipeline(Readable.from(listCsvRows(sources, components)), writer, () => undefined);
}

async function* listCsvRows(
  sources: DependencySources,
  components: DependencyComponentsQueries,
): AsyncGenerator<string[]> {
  for await (const found of listOccurrences(sources, components)) yield toCsvCells(found);
}

async function* listOccurrences(
  sources: DependencySources,
  components: DependencyComponentsQueries,
): AsyncGenerator<ReportedOccurrence> {
  for await (const source of sources)
    for (const report of source.reports)
      for await (const occurrence of components.ofReport(report.id)) yield { source, report, occurrence };
}

function toJsonDependency({ source, report, occurrence }: ReportedOccurrence) {
  const { id, name, version, ancestors } = occurrence;
  return {
    ...{ name, packager: report.packager ?? occurrence.packager, version, occurrence_id: id },
    location: {
      blob_path: inputFileBlobPath(source, report),
      path: report.input_file,
      top_level: occurrence.is_top_level,
      ancestors,
    },
    has_dependency_paths: ancestors.length > 0,
    licenses: occurrence.licenses.map(toSpdxLicense),
    ...{ vulnerabilities: [], vulnerability_count: 0, malware: false },
  };
}

function toCsvCells({ source, report, occurrence }: ReportedOccurrence): string[] {
  const { name, version, packager, licenses } = occurrence;
  const identifiers = licenses.flatMap(({ spdx }) => spdx ?? []).join('; ');
  const location = inputFileBlobPath(source, report) ?? '';
  return [name, version ?? '', report.packager ?? packager ?? '', location, identifiers, source.fullPath, '0', ''];
}

/** Returns the path of the described file on this instance; null if the document names no file. */
function inputFileBlobPath({ fullPath, sha }: DependencySource, { input_file: path }: SourceReport): string | null {
  return path === null ? null : `/${fullPath}/-/blob/${sha}/${path.split('/').map(encodeURIComponent).join('/')}`;
}
