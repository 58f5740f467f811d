import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

const oneImport = object({ import_id: int });

/**
 * Runs an import. Each killed process costs a try, so the queue allows many. `ImportJob` ends an import that makes no
 * progress after fewer tries.
 */
export const runImport = defineJob('run-import', oneImport, { key: ({ import_id }) => String(import_id), tries: 1000 });

/** Reports the state of an import to identity, which shows it with the project. */
export const reportImportState = defineJob('report-import-state', oneImport, {
  key: ({ import_id }) => String(import_id),
});
