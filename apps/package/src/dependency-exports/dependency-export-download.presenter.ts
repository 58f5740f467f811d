import type { FileAnswer } from '@rookery/api-v4';
import type { PackageFiles } from '../packages/package-files';
import type { ExportType } from './dependency-export.entity';
import type { ExportRow } from './dependency-exports.queries';

const EXTENSIONS: Readonly<Record<ExportType, string>> = {
  dependency_list: 'json',
  json_array: 'json',
  csv: 'csv',
  sbom: 'cdx.json',
  cyclonedx_1_6_json: 'cdx.json',
};

/** The download of a finished export. Source: reference packages-and-admin 6.2. */
export function toDependencyExportDownload(files: PackageFiles, row: ExportRow): FileAnswer {
  return {
    stream: (range) => files.openAttached(row.sha256!, range),
    mediaType: row.export_type === 'csv' ? 'text/csv' : 'application/json',
    length: row.size!,
    lastModified: row.finished_at!,
    version: row.sha256!,
    filename: dependencyExportFileName(row),
  };
}

/** Returns a file name such as `project_7_dependencies_2026-11-21T0930.json`. The time is in UTC. */
function dependencyExportFileName({ project_id, group_id, pipeline_id, export_type, finished_at }: ExportRow): string {
  const parent = pipeline_id !== null ? `pipeline_${pipeline_id}` : projectOrGroupFileNamePart(project_id, group_id);
  const time = finished_at!.toISOString().slice(0, 16).replace(/:/g, '');
  return `${parent}_dependencies_${time}.${EXTENSIONS[export_type]}`;
}

function projectOrGroupFileNamePart(projectId: number | null, groupId: number | null): string {
  return projectId !== null ? `project_${projectId}` : `group_${groupId}`;
}
