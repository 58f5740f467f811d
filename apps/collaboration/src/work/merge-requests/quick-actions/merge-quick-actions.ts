import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Jobs } from '@rookery/jobs';
import { Conflict, MethodNotAllowed } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import {
  executeCommandsInSavepoints,
  describeQuickActionRefusal,
} from '../../../talk/mentions/quick-actions/action-set';
import type { ActionContext, ExecuteActions, ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import { mergeRequestKind } from '../merge-request.kind';
import { MergeRequestsService } from '../merge-requests.service';
import { MergeChecks } from '../merging/merge-checks';
import { RebaseService } from '../merging/rebase.service';
import { runMergeCommand } from './run-merge-command';

type MergeCommandName = 'merge' | 'rebase';
/** Whether a command may run, as decided before the transaction. */
type CommandDecision = { readonly isForLater: boolean } | { readonly why: string };

const NEEDS_SHA = 'the request has no merge_request_diff_head_sha';
const HAS_MOVED = 'the branch has been updated since then';

/** The newest version with a head. */
const versionOfHead = statement<{ id: number; sha: string | null }, { readonly id: number }>(
  'merge_request_versions_of_head',
  `select v.id from merge_request_versions v where v.merge_request_id = :id::bigint and v.head_sha = :sha
   order by v.id desc limit 1`,
);

/**
 * Quick actions that move branches. They are checked when the text is written; a job moves the branches after it, because
 * a transaction cannot contain that. Source: reference work-tracking 2.6.
 */
@Injectable()
export class MergeQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly mergeRequests: MergeRequestsService,
    private readonly checks: MergeChecks,
    private readonly rebases: RebaseService,
    private readonly jobs: Jobs,
  ) {
    actions.declareSet({
      names: ['merge', 'rebase'],
      isForExistingOnly: true,
      supportsKind: (kind) => kind === mergeRequestKind,
      plan: (context, commands) => this.planMergeCommands(context, commands),
    });
  }

  private async planMergeCommands(context: ActionContext, commands: readonly Command[]): Promise<ExecuteActions> {
    const decisions: CommandDecision[] = [];
    for (const { name } of commands) decisions.push(await this.decideCommand(context, name as MergeCommandName));
    return (tx, on) =>
      executeCommandsInSavepoints(tx, commands, ({ name }, index) =>
        this.scheduleCommand(tx, context, on, name as MergeCommandName, decisions[index]!),
      );
  }

  private async decideCommand(
    { viewer, parent, on, headSha: sha }: ActionContext,
    name: MergeCommandName,
  ): Promise<CommandDecision> {
    const project = parent as ProjectScope;
    try {
      if (name === 'rebase') {
        await this.rebases.checkRebase(viewer, project, on!.named);
        return { isForLater: false };
      }
      if (!sha) return { why: NEEDS_SHA };
      const { row, isForLater } = await this.checks.decideMerge(viewer, project, on!.named, { isAutomatic: true, sha });
      return row.head_sha === sha ? { isForLater } : { why: HAS_MOVED };
    } catch (error) {
      if (error instanceof Conflict) return { why: name === 'rebase' ? 'it is not open' : HAS_MOVED };
      if (error instanceof MethodNotAllowed) return { why: 'it cannot be merged now' };
      return { why: describeQuickActionRefusal(error) };
    }
  }

  private async scheduleCommand(
    tx: Tx,
    { viewer, parent, headSha }: ActionContext,
    on: NoteableWithParent,
    name: MergeCommandName,
    decision: CommandDecision,
  ): Promise<ActionResult> {
    if ('why' in decision) return decision;
    const project = parent as ProjectScope;
    const { mergeRequest } = await this.mergeRequests.lockMergeRequest(tx, viewer, project, on.named);
    const { state, headSha: sha, sourceBranch } = mergeRequest;
    const [version] = await tx.run(versionOfHead, { id: mergeRequest.id, sha });
    if (state !== 'opened' || sha === null || !version) return { why: 'it is not open' };
    // The branch may have moved since the decision, and the text names what its author has seen.
    if (name === 'merge' && sha !== headSha) return { why: HAS_MOVED };
    const who = { project_id: project.id, iid: on.named, user_id: viewer.userId };
    await this.jobs.enqueue(tx, runMergeCommand, { command: name, ...who, version_id: version.id });
    if (name === 'rebase') return { said: `Scheduled a rebase of branch ${sourceBranch}.`, changes: { rebase: true } };
    const said = decision.isForLater
      ? 'Scheduled to merge this merge request when all checks pass.'
      : 'Scheduled to merge this merge request.';
    return { said, changes: { merge: sha } };
  }
}
