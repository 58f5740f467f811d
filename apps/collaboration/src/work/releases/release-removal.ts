import { declareAttachedTable } from '@rookery/persistence';

/** Releases are removed with their project. Links and milestones of releases go by foreign keys. */
export const attachedReleases = declareAttachedTable({
  table: 'releases',
  project: 'project_id',
  users: [{ column: 'author_id', onRemoval: 'ghost-or-null' }],
});
