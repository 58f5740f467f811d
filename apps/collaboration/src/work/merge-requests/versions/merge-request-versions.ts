import { Inject, Injectable } from '@nestjs/common';
import type { ObjectId, RefUpdate, Repository } from '@rookery/git';
import { Conflict } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { toKeepAroundRef, setHiddenRefs } from '../../../code/repositories/hidden-refs';
import { resetApprovals } from '../approvals/reset-approvals';
import { MergeRequestRecorder } from '../closing/merge-request-recorder';
import { MergeRequest } from '../merge-request.entity';
import { versionColumns } from '../merge-request-change';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { mergeRequestKind } from '../merge-request.kind';
import { MERGE_REQUEST_SHOWN_AS } from '../merge-request.shape';
import { DiffThreadFollower } from '../reviews/followed-threads';
import type { AffectedRow } from './affected-merge-requests';
import { measureDiffVersion } from './measure-version';
import type { MeasuredVersion } from './measure-version';
import { renderPushSystemNote } from './push-note';
import type { NewCommits } from './push-note';
import { SourceBranches } from './source-branches';

/** A merge request whose branches are compared with its latest version. */
interface VersionedRow {
  readonly id: number;
  readonly project_id: number;
  readonly iid: number;
  readonly source_project_id: number | null;
  readonly source_branch: string;
  readonly target_branch: string;
  readonly head_sha: ObjectId | null;
  readonly start_sha: ObjectId | null;
}

const projectPath = statement<{ project: number }, { readonly full_path: string }>(
  'merge_requests_project_path',
  `select home.full_path || '/' || p.path as full_path from directory_projects p
   join directory_namespaces home on home.id = p.namespace_id where p.id = :project::bigint`,
);
const findVersionedRow = statement<{ id: number }, VersionedRow>(
  'merge_requests_versioned',
  `select id, project_id, iid, source_project_id, source_branch, target_branch, head_sha, start_sha from merge_requests
   where id = :id::bigint and state = 'opened'`,
);
/** Locks a merge request whose latest version is still the given one. */
const lockVersionedRow = statement<
  { id: number; head: string | null },
  { readonly auto_merge_user_id: number | null; readonly at: Date }
>(
  'merge_requests_lock_version',
  `select auto_merge_user_id, now() as at from merge_requests where id = :id::bigint and state = 'opened' and head_sha is not distinct from :head
   for no key update`,
);
/** Heads that the repository does not name yet, of one merge request or of all. */
export const unpublishedHeads = statement<{ id: number | null }, VersionedRow>(
  'merge_requests_unpublished',
  `select id, project_id, iid, source_project_id, source_branch, target_branch, head_sha, start_sha from merge_requests
   where head_sha is distinct from published_sha and (:id::bigint is null or id = :id::bigint) order by id limit 100`,
);
/** No row is written if the merge request has a newer version already. */
const markHeadPublished = statement<{ id: number; head: string | null }, never>(
  'merge_requests_published',
  `update merge_requests set published_sha = :head where id = :id::bigint and head_sha is not distinct from :head`,
);

/** A push to the source branch of a merge request. */
export interface SourcePush {
  readonly update: RefUpdate;
  readonly version: MeasuredVersion;
  readonly commits: NewCommits;
  readonly by: { readonly actorId: number; readonly at: Date; readonly pushedAt: Date };
  readonly isLate: boolean;
}

/** Records versions of merge requests, and lets refs of the repository name their commits. Source: reference repositories 8.5. */
@Injectable()
export class MergeRequestVersions {
  constructor(
    private readonly records: MergeRequestRecorder,
    private readonly work: Work,
    private readonly follower: DiffThreadFollower,
    readonly sources: SourceBranches,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Adds the version of a push to the source branch, with its note. `isLate` is true if a later push was settled
   * before. Then the version only takes its place in the list.
   */
  async addVersion(tx: Tx, row: AffectedRow, push: SourcePush): Promise<void> {
    const { version, commits, by, isLate } = push;
    const { id, project_id: projectId } = row;
    const versionId = await this.records.recordVersion(tx, id, version, { at: by.pushedAt, isLate });
    const aborted = row.auto_merge_user_id !== null && !isLate;
    if (!isLate) {
      const columns = { ...versionColumns(version), autoMergeUserId: null, mergeError: null, updatedAt: by.at };
      await tx.manager.update(MergeRequest, id, columns);
      await tx.run(resetApprovals, { id, only_if_set: true });
    }
    const [place] = await tx.run(projectPath, { project: projectId });
    const path = `/${place?.full_path ?? ''}${MERGE_REQUEST_SHOWN_AS.webPath}${row.iid}`;
    const { base_sha: oldBase } = row;
    const home = place?.full_path.slice(0, place.full_path.lastIndexOf('/'));
    const targetBranch = row.source_project_id === projectId ? row.target_branch : `${home}:${row.target_branch}`;
    const note = renderPushSystemNote(commits, {
      path,
      versionId,
      oldId: push.update.oldId,
      oldBase,
      version,
      targetBranch,
    });
    const bodies = aborted ? [note, systemNotes.autoMergeAborted('source branch was updated')] : [note];
    await writeSystemNotes(tx, mergeRequestKind, { noteableId: id, projectId, actorId: by.actorId, bodies, at: by.at });
    const facts = { id, iid: row.iid, projectId, authorId: row.author_id, createdAt: row.created_at };
    const commitCount = commits.own + commits.fromTarget;
    if (!isLate) this.records.announcePush(tx, facts, { actorId: by.actorId, commitCount, at: by.at });
  }

  /** Adds the version of a push to the target branch, which leaves `updated_at` as it is. */
  async recordTargetPush(tx: Tx, id: number, version: MeasuredVersion, at: Date): Promise<void> {
    await this.records.recordVersion(tx, id, version, { at });
    await tx.manager.update(MergeRequest, id, versionColumns(version));
  }

  /**
   * Records the present version of an open merge request whose source branch has moved since its last one: a push may
   * have been settled before the merge request was committed. Diff threads follow to the latest version. `actorId` is
   * the user who changed the merge request.
   */
  async catchUp(repository: Repository, id: number, actorId: number): Promise<void> {
    const [row] = await this.work.run((tx) => tx.run(findVersionedRow, { id }));
    if (!row) return;
    await this.recordMovedBranches(repository, row, actorId);
    await this.follower.catchUp(repository, id, actorId);
  }

  private async recordMovedBranches(repository: Repository, row: VersionedRow, actorId: number): Promise<void> {
    const { id, project_id: projectId } = row;
    const { source, target } = await this.sources.readTips(repository, {
      projectId: row.project_id,
      sourceProjectId: row.source_project_id,
      sourceBranch: row.source_branch,
      targetBranch: row.target_branch,
    });
    if (source === null || target === null || source === row.head_sha) return;
    const version = await measureDiffVersion(repository, { source, target });
    await this.work.run(async (tx) => {
      const [current] = await tx.run(lockVersionedRow, { id, head: row.head_sha });
      if (!current) return;
      await tx.manager.update(MergeRequest, id, { ...versionColumns(version), autoMergeUserId: null });
      await this.records.recordVersion(tx, id, version);
      await tx.run(resetApprovals, { id, only_if_set: true });
      if (current.auto_merge_user_id === null) return;
      const bodies = [systemNotes.autoMergeAborted('source branch was updated')];
      await writeSystemNotes(tx, mergeRequestKind, { noteableId: id, projectId, actorId, bodies, at: current.at });
    });
  }

  /**
   * Lets `refs/merge-requests/<iid>/head` name the head of the latest version, and keeps its commits. A failure does not
   * fail the caller: a job repeats it.
   */
  async publishHead(repository: Repository, id: number): Promise<void> {
    try {
      for (const row of await this.work.run((tx) => tx.run(unpublishedHeads, { id })))
        await this.publishHeadRefs(repository, row);
    } catch (error) {
      this.logger.warn({ err: error, mergeRequestId: id }, 'the head of a merge request is not published yet');
    }
  }

  private async publishHeadRefs(repository: Repository, row: VersionedRow): Promise<void> {
    const { id, iid, head_sha: head, start_sha: start } = row;
    const kept = [head, start].flatMap((sha) => (sha === null ? [] : [toKeepAroundRef(sha)]));
    const distinct = kept.filter(({ ref }, index) => kept.findIndex((other) => other.ref === ref) === index);
    await setHiddenRefs(repository, [{ ref: mergeRequestHeadRef(iid), id: head }, ...distinct]);
    await this.work.run((tx) => tx.run(markHeadPublished, { id, head }));
  }
}

/** Ref that names the head of a merge request. Clients can fetch it. */
export function mergeRequestHeadRef(iid: number): string {
  return `refs/merge-requests/${iid}/head`;
}

/** Ref that names a trial merge. Clients can fetch it. */
export function mergeRequestMergeRef(iid: number): string {
  return `refs/merge-requests/${iid}/merge`;
}

/** Errors: Conflict if the branches of a merge request changed while the request was prepared. */
export function assertSameBranches(
  before: Pick<MergeRequest, 'sourceProjectId' | 'sourceBranch' | 'targetBranch'>,
  now: Pick<MergeRequest, 'sourceProjectId' | 'sourceBranch' | 'targetBranch'>,
): void {
  const { sourceProjectId, sourceBranch, targetBranch } = before;
  const isSameSource = sourceProjectId === now.sourceProjectId && sourceBranch === now.sourceBranch;
  if (!isSameSource || targetBranch !== now.targetBranch) throw new Conflict('409 Conflict: Resource lock');
}
