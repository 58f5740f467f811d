import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

/** Tries the automatic merges of a project. At most one waits for each project. */
export const mergeAutomatically = defineJob('merge-automatically', object({ project_id: int }), {
  key: ({ project_id: id }) => String(id),
});
