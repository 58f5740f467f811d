import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { readCommits } from '@rookery/git';
import { NotFound, Unauthorized } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { shouldPushStartPipeline } from '../../../code/push-pipelines/ci-file';
import { isPipelineSkippedByPush } from '../../../code/push-pipelines/skipped-pushes';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { emitMergeRequestProgress } from '../merge-request-events';
import { mergeRequestKind } from '../merge-request.kind';
import { ACTIVE_STATUSES } from '../pipelines/head-pipeline-sql';
import type { MergeWishes } from './merge-wishes';
import { MergePermissions } from './merge-permissions';
import { mergingRow, setAutoMerge } from './merging-rows';
import type { MergingRow } from './merging-rows';

/** Requests to merge as soon as all checks pass. Source: reference repositories 8.9. */
@Injectable()
export class AutoMerge {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly work: Work,
    private readonly permissions: MergePermissions,
    private readonly noteLimit: NoteLimit,
  ) {}

  /** Whether a pipeline goes on, or is to come: a push of the head starts one, and none is known. */
  async waitsFor(project: ProjectScope, row: MergingRow): Promise<boolean> {
    const { head_sha: head, head_status: status, source_branch: branch } = row;
    if (status !== null) return ACTIVE_STATUSES.includes(status);
    if (head === null || project.mergeSettings.builds_access_level === 'disabled') return false;
    const asked = { project: row.source_project_id ?? project.id, branch, head };
    if (await this.work.run((tx) => isPipelineSkippedByPush(tx, asked))) return false;
    return this.repositories.useRepository(project, async (repository) => {
      const [commit] = await readCommits(repository, [head]);
      return (
        commit !== undefined &&
        shouldPushStartPipeline(repository, commit, project.mergeSettings.ci_config_path ?? null)
      );
    });
  }

  /** Stores the request, which counts as a note. Errors: TooManyRequests. */
  async enable(viewer: SignedInViewer, row: MergingRow, wishes: MergeWishes): Promise<void> {
    const note = systemNotes.autoMergeEnabled(row.head_sha ?? '');
    const { removesSource: removes, mergeMessage, squashMessage, squash } = wishes;
    const kept = JSON.stringify({ mergeMessage, squashMessage, squash });
    await this.writeAutoMergeState(viewer.userId, row, {
      user: viewer.userId,
      removes,
      note,
      wishes: kept,
      setBy: viewer,
    });
  }

  /** Ends an automatic merge that cannot succeed, with a note by its user. `reason` ends the sentence of the note. */
  async abort(userId: number, row: MergingRow, reason: string): Promise<void> {
    const note = systemNotes.autoMergeAborted(reason);
    await this.writeAutoMergeState(userId, row, { user: null, removes: null, note, wishes: null });
  }

  /** Cancels, also if there is nothing to cancel. Errors: NotFound, Forbidden, Unauthorized. */
  async cancel(viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<void> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    const [row] = await this.work.run((tx) => tx.run(mergingRow, { project: project.id, iid }));
    if (!row) throw new NotFound();
    const isAuthor = row.author_id === viewer.userId && !project.archived;
    if (!isAuthor && !(await this.permissions.mayMergeInto(viewer, project, row.target_branch)))
      throw new Unauthorized();
    const note = systemNotes.autoMergeCanceled;
    await this.writeAutoMergeState(viewer.userId, row, { user: null, removes: null, note, wishes: null });
  }

  private async writeAutoMergeState(
    actorId: number,
    { id, iid, project_id: projectId, author_id: authorId, created_at: createdAt, head_sha: head }: MergingRow,
    o: {
      readonly user: number | null;
      readonly removes: boolean | null;
      readonly note: string;
      readonly wishes: string | null;
      /** Only if the merge is set. */
      readonly setBy?: SignedInViewer;
    },
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const [changed] = await tx.run(setAutoMerge, { id, user: o.user, removes: o.removes, wishes: o.wishes, head });
      if (!changed) return;
      const { at } = changed;
      await writeSystemNotes(tx, mergeRequestKind, { noteableId: id, projectId, actorId, bodies: [o.note], at });
      if (!o.setBy) return;
      this.noteLimit.countNotes(tx, o.setBy);
      const step = { step: 'auto_merge_set', actorId, seen: o.setBy.directory, at } as const;
      emitMergeRequestProgress(tx, { id, iid, projectId, authorId, createdAt }, step);
    });
  }
}
