import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { COMMIT_SHOWN_AS, commitTargetShape } from './commit.shape';
import { attachedDiscussedCommits } from './discussed-commit.entity';

/** Commits with comments as a noteable kind. Source: reference work-tracking 2.1, 3.1; reference repositories 4.6. */
export const commitKind: NoteableKind = {
  ...COMMIT_SHOWN_AS,
  type: 'Commit',
  noun: 'commit',
  word: 'commit',
  resource: 'Commit',
  table: 'discussed_commits',
  writes: { update: 'update discussed_commits i set', remove: 'delete from discussed_commits i' },
  parent: 'project',
  feature: 'code',
  confidentialColumn: null,
  stateColumn: null,
  hasEditorColumns: false,
  abilities: ['diff-threads', 'todos'],
  // The repository has the commits; only their notes have events.
  events: {},
  // Every reader of the code sees all commits.
  visibleSql: () => 'true',
  assignees: null,
  listed: commitTargetShape,
  listedBytes: 'octet_length(i.title) + octet_length(i.description)',
  detailed: commitTargetShape,
  attached: [attachedDiscussedCommits],
};
