import { declareAttachedTable } from '@rookery/persistence';

/** Copies of pipelines go with their project. */
export const attachedCiPipelines = declareAttachedTable({
  table: 'ci_pipelines',
  project: 'project_id',
  users: [{ column: 'user_id', onRemoval: 'ghost-or-null' }],
});
