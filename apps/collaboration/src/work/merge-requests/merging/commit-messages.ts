import { listCommits } from '@rookery/git';
import type { Commit, Identity, ObjectId, Repository } from '@rookery/git';

/** Message of a merge commit without a template of the project. Source: reference repositories 8.9. */
export const MERGE_TEMPLATE = `Merge branch '%{source_branch}' into '%{target_branch}'

%{title}

%{issues}

See merge request %{reference}`;
/** Message of a squash commit without a template of the project. */
export const SQUASH_TEMPLATE = '%{title}';

/** Facts for the placeholders of a message. */
export interface MessageFacts {
  readonly sourceBranch: string;
  readonly targetBranch: string;
  readonly sourceProjectId: number;
  readonly title: string;
  readonly description: string;
  readonly fullPath: string;
  readonly iid: number;
  readonly url: string;
  /** Sentence about the issues that the merge closes; empty for none. */
  readonly issues: string;
  readonly approvers: readonly Identity[];
  readonly reviewers: readonly Identity[];
  readonly merger: Identity;
  readonly author: Identity;
}

/** Own commits of the source branch that a message can quote, and characters of each message. */
const MAX_COMMITS = 100;
const MAX_CHARACTERS = 10_000;
const OF_COMMITS =
  /%\{(?:first_commit|first_multiline_commit|first_multiline_commit_description|all_commits|co_authored_by)\}/;
const PLACEHOLDER = /%\{(\w+)\}/g;

/** Reads the newest own commits of a source branch, oldest first; none if the template does not quote them. */
export async function readQuotedCommits(
  view: Repository,
  template: string,
  { source, target }: { readonly source: ObjectId; readonly target: ObjectId },
): Promise<readonly Commit[]> {
  if (!OF_COMMITS.test(template)) return [];
  const selection = { from: [source], notFrom: [target], skipsMerges: true, skip: 0, max: MAX_COMMITS };
  return [...(await listCommits(view, selection))].reverse();
}

/**
 * Renders a template. An empty placeholder at the end of a line is removed with the white space before it. Unknown
 * placeholders stay. `commits` are the result of `readQuotedCommits`. Source: reference repositories 8.10.
 */
export function renderMergeCommitMessage(template: string, facts: MessageFacts, commits: readonly Commit[]): string {
  const values = toCommitMessageTemplateValues(facts, commits);
  const isEmpty = (name: string): boolean => values.get(name) === '';
  const withoutEmpty = template
    .replaceAll('\r\n', '\n')
    .replaceAll(/\s*%\{(\w+)\}(?=\n|$)/g, (found, name: string) => (isEmpty(name) ? '' : found));
  return withoutEmpty.replaceAll(PLACEHOLDER, (found, name: string) => values.get(name) ?? found).trim();
}

/** Renders the sentence about closed issues, as `Closes #1, #2 and #3`; empty for none. */
export function renderClosedIssues(references: readonly string[]): string {
  if (references.length === 0) return '';
  const last = references.at(-1)!;
  const others = references.slice(0, -1);
  return `Closes ${others.length === 0 ? last : `${others.join(', ')} and ${last}`}`;
}

function toCommitMessageTemplateValues(facts: MessageFacts, commits: readonly Commit[]): ReadonlyMap<string, string> {
  const messages = commits.map(({ message }) => message.slice(0, MAX_CHARACTERS).trim());
  const multiline = messages.find((message) => message.includes('\n'));
  const reference = `!${facts.iid}`;
  return new Map([
    ['source_branch', facts.sourceBranch],
    ['target_branch', facts.targetBranch],
    ['source_project_id', String(facts.sourceProjectId)],
    ['title', facts.title],
    ['description', facts.description],
    ['issues', facts.issues],
    ['reference', facts.fullPath + reference],
    ['local_reference', reference],
    ['url', facts.url],
    ['first_commit', messages[0] ?? ''],
    ['first_multiline_commit', multiline ?? facts.title],
    ['first_multiline_commit_description', multiline?.slice(multiline.indexOf('\n')).trim() ?? ''],
    ['all_commits', messages.map((message) => `* ${message}`).join('\n\n')],
    ['co_authored_by', renderCoAuthorTrailers(facts, commits)],
    ['approved_by', facts.approvers.map((person) => `Approved-by: ${formatAddress(person)}`).join('\n')],
    ['reviewed_by', facts.reviewers.map((person) => `Reviewed-by: ${formatAddress(person)}`).join('\n')],
    ['merged_by', formatAddress(facts.merger)],
    ['merge_request_author', formatAddress(facts.author)],
  ]);
}

/** Trailers of the authors of the commits other than the author of the merge request. */
function renderCoAuthorTrailers({ author }: MessageFacts, commits: readonly Commit[]): string {
  const others = new Map(commits.map((commit) => [commit.author.email, commit.author.name]));
  others.delete(author.email);
  return [...others].map(([email, name]) => `Co-authored-by: ${name} <${email}>`).join('\n');
}

const formatAddress = ({ name, email }: Pick<Identity, 'name' | 'email'>): string => `${name} <${email}>`;
