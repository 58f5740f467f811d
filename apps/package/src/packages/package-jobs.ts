import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

/** Measures the packages of a project after uploads and deletions. */
export const measureStorage = defineJob('measure-package-storage', object({ project_id: int }), {
  key: ({ project_id }) => String(project_id),
  whenWaiting: 'keep',
});

/** Removes the rows of deleted packages and files. */
export const destroyPackages = defineJob('destroy-packages', object({}), {
  key: () => 'all',
  queue: 'destroy-packages',
  whenWaiting: 'keep',
});
