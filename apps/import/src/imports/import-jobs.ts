import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

const oneImport = object({ import_id: int });

/** Runs an import. The tries take about half a minute, since the clients of an import wait for it. */
export const runImport = defineJob('run-import', oneImport, { key: ({ import_id }) => String(import_id), tries: 4 });

/** Reports the state of an import to identity, which shows it with the project. */
export const reportImportState = defineJob('report-import-state', oneImport, {
  key: ({ import_id }) => String(import_id),
});
