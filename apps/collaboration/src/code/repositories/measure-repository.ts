import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

/** Measures the repository of a project. */
export const measureRepository = defineJob('measure-repository', object({ project_id: int }), {
  key: ({ project_id: id }) => String(id),
});
