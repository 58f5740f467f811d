import { countCommits, listCommits } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { escapeHtml } from '@rookery/kernel';
import type { MeasuredVersion } from './measure-version';

/** Commits that a push brought to a merge request. */
export interface NewCommits {
  readonly own: number;
  /** Lines of the newest own commits, oldest first. */
  readonly lines: readonly string[];
  /** Commits that the target branch has too. */
  readonly fromTarget: number;
}

const MAX_LISTED = 100;
const MAX_COUNT = 10_000;
const SHORT_ID = 8;

/** Reads the commits that came with a push, without those that were there before. */
export async function readNewCommits(
  repository: Repository,
  { oldId, newId, target }: { readonly oldId: ObjectId; readonly newId: ObjectId; readonly target: ObjectId },
): Promise<NewCommits> {
  const added = { from: [newId], notFrom: [oldId] };
  const own = { from: [newId], notFrom: [oldId, target] };
  const all = await countCommits(repository, { ...added, max: MAX_COUNT });
  const count = await countCommits(repository, { ...own, max: MAX_COUNT });
  const commits = await listCommits(repository, { ...own, skip: 0, max: MAX_LISTED });
  const lines = commits.map(({ id, message }) => {
    const title = message.trimStart().split('\n', 1)[0]!;
    return `${id.slice(0, SHORT_ID)} - ${escapeHtml(title)}`;
  });
  return { own: count, lines: lines.reverse(), fromTarget: all - count };
}

/**
 * Text of the system note about a push to the source branch. `path` is the web path of the merge request, with a slash
 * in front. Source: reference repositories 8.5.
 */
export function renderPushSystemNote(
  { own, lines, fromTarget }: NewCommits,
  o: {
    readonly path: string;
    readonly versionId: number;
    readonly oldId: ObjectId;
    readonly oldBase: ObjectId | null;
    readonly version: MeasuredVersion;
    readonly targetBranch: string;
  },
): string {
  const count = own + fromTarget;
  const short = (id: ObjectId | null): string => (id ?? o.version.headSha).slice(0, SHORT_ID);
  const range = `${short(o.oldBase)}...${short(o.version.baseSha)}`;
  const branch = `<code>${escapeHtml(o.targetBranch)}</code>`;
  const existing = fromTarget > 0 ? [`${range} - ${renderCommitCount(fromTarget)} from branch ${branch}`] : [];
  const list = [...existing, ...lines].map((line) => `<li>${line}</li>`).join('');
  const compare = `${o.path}/diffs?diff_id=${o.versionId}&start_sha=${o.oldId}`;
  return `added ${renderCommitCount(count)}\n\n<ul>${list}</ul>\n\n[Compare with previous version](${compare})`;
}

function renderCommitCount(count: number): string {
  return `${count} ${count === 1 ? 'commit' : 'commits'}`;
}
