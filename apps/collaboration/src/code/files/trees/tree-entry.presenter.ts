import { choice, presenter, text } from '@rookery/api-v4';
import type { TreeEntry } from '@rookery/git';

/** Entry of a folder. `path` starts at the root of the repository. Source: reference repositories 3.1. */
export const treeEntry = presenter<TreeEntry>('TreeEntry').fields({
  id: [text, ({ id }) => id, { about: 'Id of the object.' }],
  name: [text, ({ path }) => path.slice(path.lastIndexOf('/') + 1)],
  type: [choice('tree', 'blob', 'commit'), ({ type }) => type, { about: '`commit` for a submodule.' }],
  path: [text, ({ path }) => path, { about: 'Path from the root of the repository.' }],
  mode: [text, ({ mode }) => mode, { about: 'Mode of git, six digits.' }],
});
