import { instant, int, list, nested, nullable, presenter, text } from '@rookery/api-v4';
import { commitPresenter } from '../../../code/commits/commit.presenter';
import { diffPresenter } from '../../../code/commits/diffs/diff.presenter';
import { json } from '../../../base/noteables/json.shape';
import { mergeRequestDetailShape } from '../merge-request.shape';
import type { VersionContents } from './version-contents';

const version = presenter<Pick<VersionContents, 'version'>>('MergeRequestVersion').fields({
  id: [int, ({ version: row }) => row.id],
  head_commit_sha: [text, ({ version: row }) => row.head_sha, { about: 'Commit of the source branch.' }],
  base_commit_sha: [nullable(text), ({ version: row }) => row.base_sha, { about: 'Common ancestor of both branches.' }],
  start_commit_sha: [text, ({ version: row }) => row.start_sha, { about: 'Commit of the target branch.' }],
  created_at: [instant, ({ version: row }) => row.created_at],
  merge_request_id: [int, ({ version: row }) => row.merge_request_id],
  state: [text, ({ version: row }) => row.state, { about: 'Whether the list of files is complete.' }],
  real_size: [text, ({ version: row }) => String(row.files_count), { about: 'Number of changed files.' }],
  patch_id_sha: [nullable(text), ({ version: row }) => row.patch_id_sha],
});

/** A version in a list. Source: reference repositories 8.5. */
export const versionPresenter = version;

/** A version with its commits and changed files. Source: reference repositories 8.5. */
export const versionContentsPresenter = version.extend<VersionContents>('MergeRequestVersionContents').fields({
  commits: [list(nested(commitPresenter)), ({ commits }) => commits, { about: 'Commits, the newest first.' }],
  diffs: [list(nested(diffPresenter)), ({ files }) => files, { about: 'Changed files.' }],
});

/** A merge request with its diff, for the document. The handler joins the two. Source: reference repositories 8.8. */
export const changesPresenter = mergeRequestDetailShape.extend<never>('MergeRequestChanges').fields({
  changes: [json.written(list(nested(diffPresenter)) as never), () => ''],
  overflow: [json.bool, () => ''],
}).presenter;
