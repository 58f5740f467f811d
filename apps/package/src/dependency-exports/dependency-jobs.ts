import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

/** Reads a document that a job handed in. */
export const readDependencyReport = defineJob('read-dependency-report', object({ report_id: int }), {
  key: ({ report_id }) => String(report_id),
});

/** Writes the file of an export. One export at a time is written, so that a few large ones cannot fill the memory. */
export const generateDependencyExport = defineJob('generate-dependency-export', object({ export_id: int }), {
  key: ({ export_id }) => String(export_id),
  queue: 'dependency-exports',
  tries: 5,
});
