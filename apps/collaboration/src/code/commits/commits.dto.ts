import { Flag, Instant, OneOf, Text } from '@rookery/api-v4';

/** A leading dash, blanks and control characters are in no name of a ref. */
const REF_FORM = /^(?!-)[^\u0000-\u0020\u007f]*$/;
const ANY_REF = 'Branch, tag or id, whole or abbreviated; `HEAD` is the default branch.';

export class IdentifyCommit {
  @Text({ in: 'path', about: 'Id of the commit, whole or abbreviated, or the name of a branch or tag.' }) sha: string;
}
export class ShowCommitWithStats extends IdentifyCommit {
  @Flag({ default: true, about: 'Adds the numbers of changed lines.' }) stats: boolean;
}
export class ListCommits {
  @Text({
    optional: true,
    pattern: REF_FORM,
    about: `${ANY_REF} A range \`a..b\` has the commits of b that a lacks. Default: the default branch.`,
  })
  ref_name?: string;
  @Instant({ optional: true, about: 'Oldest date of the committer.' }) since?: Date;
  @Instant({ optional: true, about: 'Newest date of the committer.' }) until?: Date;
  @Text({ optional: true, about: 'File or folder that the commits change.' }) path?: string;
  @Text({
    optional: true,
    max: 255,
    pattern: /^[^\u0000-\u001f]*$/,
    about: 'Part of the name or e-mail of the author.',
  })
  author?: string;
  @Flag({ default: false, about: 'Lists the commits of all branches and tags. `ref_name` then has no effect.' })
  all: boolean;
  @Flag({ default: false, about: 'Adds the numbers of changed lines.' }) with_stats: boolean;
  @Flag({ default: false, about: 'Follows only the first parent of merges.' }) first_parent: boolean;
  @OneOf(['default', 'topo'], { default: 'default', about: '`topo` lists no parent before all of its children.' })
  order: 'default' | 'topo';
  @Flag({ default: false, about: 'Adds the trailers of messages.' }) trailers: boolean;
}
export class ListCommitDiffs extends IdentifyCommit {
  @Flag({ default: false, about: 'Begins each patch with the names of the file.' }) unidiff: boolean;
}
export class ListCommitRefs extends IdentifyCommit {
  @OneOf(['branch', 'tag', 'all'], { default: 'all', about: 'Type of the refs.' }) type: 'branch' | 'tag' | 'all';
}
export class ShowCommitSequence extends IdentifyCommit {
  @Flag({ default: false, about: 'Follows only the first parent of merges.' }) first_parent: boolean;
}
