import { attachedTo } from '@rookery/persistence';

/** Releases are removed with their project. Links and milestones of releases go by foreign keys. */
export const attachedReleases = attachedTo({
  table: 'releases',
  project: 'project_id',
  users: [{ column: 'author_id', onRemoval: 'ghost-or-null' }],
});
