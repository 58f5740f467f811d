import { bool, choice, instant, int, presenter, text } from '@rookery/api-v4';
import { EXPORT_TYPES } from './dependency-export.entity';
import type { ExportRow } from './dependency-exports.queries';

/** Source: reference packages-and-admin 6.1. */
export const dependencyExportPresenter = presenter<ExportRow>('DependencyListExport').fields({
  id: [int, (row) => row.id],
  status: [choice('created', 'running', 'finished', 'failed'), (row) => row.status],
  has_finished: [bool, (row) => row.status === 'finished', { about: 'Whether the file can be downloaded.' }],
  export_type: [choice<string>(...EXPORT_TYPES), (row) => row.export_type, { about: 'Format of the file.' }],
  send_email: [bool, (row) => row.send_email, { about: 'Whether the author gets an e-mail at the end.' }],
  expires_at: [instant, (row) => row.expires_at, { about: 'When the export is deleted.' }],
  self: [text, ({ id }, _, { links }) => links.apiUrl(dependencyExportApiPath(id)), { about: 'URL of the export.' }],
  download: [
    text,
    ({ id }, _, { links }) => links.apiUrl(`${dependencyExportApiPath(id)}/download`),
    { about: 'URL of the file.' },
  ],
});

function dependencyExportApiPath(id: number): string {
  return `dependency_list_exports/${id}`;
}
