import { bool, int, list, nested, nullable, presenter, text } from '@rookery/api-v4';
import type { Contributor } from '@rookery/git';
import type { Comparison } from './comparison';
import { commitPresenter } from './commit.presenter';
import type { CommitRow } from './commit.presenter';
import { diffPresenter } from './diffs/diff.presenter';

export interface ComparisonRow extends Omit<Comparison, 'commits'> {
  readonly projectPath: string;
  readonly commits: readonly CommitRow[];
}

/** Source: reference repositories 4.4. */
export const comparisonPresenter = presenter<ComparisonRow>('Comparison').fields({
  commit: [nullable(nested(commitPresenter)), ({ commits }) => commits.at(-1), { about: 'The newest of the commits.' }],
  commits: [
    list(nested(commitPresenter)),
    ({ commits }) => commits,
    { about: 'Commits of the newer side, the oldest first.' },
  ],
  diffs: [list(nested(diffPresenter)), ({ diff }) => diff.files, { about: 'Changed files.' }],
  compare_timeout: [
    bool,
    ({ diff }) => diff.isCut,
    { about: 'Files or patches are missing, because the diff is too large.' },
  ],
  compare_same_ref: [bool, ({ from, to }) => from === to, { about: 'Both sides are the same commit.' }],
  web_url: [
    text,
    ({ from, to, projectPath }, _, { links }) => links.webUrl(`${projectPath}/-/compare/${from}...${to}`),
  ],
});

/** Source: reference repositories 4.4. */
export const contributorPresenter = presenter<Contributor>('Contributor').fields({
  name: [text, ({ name }) => name],
  email: [text, ({ email }) => email],
  commits: [int, ({ commits }) => commits, { about: 'Number of commits; merges do not count.' }],
  additions: [int, () => 0, { about: 'Always 0: not counted.' }],
  deletions: [int, () => 0, { about: 'Always 0: not counted.' }],
});
