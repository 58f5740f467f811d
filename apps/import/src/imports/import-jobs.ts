import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

const oneImport = object({ import_id: int });

/**
 * Runs an import. A process that dies uses up a try, so there are more of them than an import without progress may use
 * (`ImportJob`).
 */
export const runImport = defineJob('run-import', oneImport, { key: ({ import_id }) => String(import_id), tries: 1000 });

/** Reports the state of an import to identity, which shows it with the project. */
export const reportImportState = defineJob('report-import-state', oneImport, {
  key: ({ import_id }) => String(import_id),
});
