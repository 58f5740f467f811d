import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import {
  executeCommandsInSavepoints,
  describeQuickActionRefusal,
} from '../../../talk/mentions/quick-actions/action-set';
import type { ActionContext, ExecuteActions, ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import { ApprovalsService } from '../approvals/approvals.service';
import { mergeRequestKind } from '../merge-request.kind';

type ApprovalCheck = { readonly head: string | null } | { readonly why: string };

/** Quick actions that approve a merge request and withdraw the approval. Source: reference work-tracking 2.6. */
@Injectable()
export class ApprovalQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly approvals: ApprovalsService,
  ) {
    actions.declareSet({
      names: ['approve', 'unapprove'],
      isForExistingOnly: true,
      supportsKind: (kind) => kind === mergeRequestKind,
      plan: (context, commands) => this.planApprovalActions(context, commands),
    });
  }

  /** Reads the commits before the transaction, since their committers may not be allowed to approve. */
  private async planApprovalActions(context: ActionContext, commands: readonly Command[]): Promise<ExecuteActions> {
    const { viewer } = context;
    const project = context.parent as ProjectScope;
    const checked = commands.some(({ name }) => name === 'approve')
      ? await this.checkApproval(context)
      : { head: null };
    return (tx, on) =>
      executeCommandsInSavepoints(tx, commands, async ({ name }): Promise<ActionResult> => {
        if (name === 'unapprove') return this.unapprove(tx, context, on.named);
        if ('why' in checked) return checked;
        await this.approvals.approveInTransaction(tx, viewer, project, on.named, checked.head);
        return { said: 'Approved this merge request.', changes: { approve: true } };
      });
  }

  private async unapprove(tx: Tx, { viewer, parent }: ActionContext, iid: number): Promise<ActionResult> {
    try {
      await this.approvals.unapproveInTransaction(tx, viewer, parent as ProjectScope, iid);
    } catch (error) {
      if (error instanceof NotFound) return { why: 'you have not approved it' };
      throw error;
    }
    return { said: 'Withdrew the approval.', changes: { unapprove: true } };
  }

  private async checkApproval({ viewer, parent, on }: ActionContext): Promise<ApprovalCheck> {
    try {
      return { head: await this.approvals.checkApproval(viewer, parent as ProjectScope, on!.named, null) };
    } catch (error) {
      return { why: describeQuickActionRefusal(error) };
    }
  }
}
