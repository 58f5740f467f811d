import { bool, nested, presenter, text } from '@rookery/api-v4';
import { commitPresenter } from '../../commits/commit.presenter';
import { encodeRefForUrlPath } from '../listing/ref-url';
import type { BranchRow } from './branches';

/** Source: reference repositories 5.1. */
export const branchPresenter = presenter<BranchRow>('Branch').fields({
  name: [text, (branch) => branch.name],
  commit: [
    nested(commitPresenter),
    ({ commit, projectPath }) => ({ commit, projectPath, hasTrailers: false }),
    { about: 'Commit at the tip of the branch.' },
  ],
  merged: [bool, (branch) => branch.isMerged, { about: 'The default branch contains the branch.' }],
  protected: [bool, (branch) => branch.isProtected, { about: 'A rule protects the branch.' }],
  developers_can_push: [bool, (branch) => branch.canDevelopersPush, { about: 'A rule lets developers push here.' }],
  developers_can_merge: [bool, (branch) => branch.canDevelopersMerge, { about: 'A rule lets developers merge here.' }],
  can_push: [bool, (branch) => branch.canPush, { about: 'The caller may push to the branch.' }],
  default: [bool, (branch) => branch.isDefault, { about: 'It is the default branch of the repository.' }],
  web_url: [
    text,
    ({ projectPath, name }, _, { links }) => links.webUrl(`${projectPath}/-/tree/${encodeRefForUrlPath(name)}`),
  ],
});
