import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Invalid, Unprocessable } from '@rookery/kernel';
import { violatesConstraint } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import { AssignedPeopleService } from '../../../planning/people/people';
import { describeQuickActionRefusal } from '../../../talk/mentions/quick-actions/action-set';
import type { ActionContext, ExecuteActions, ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import { findNamedUsers } from '../../issues/quick-actions/people-actions';
import { planLabelAndMilestoneCommands, PLANNING_ACTIONS } from '../../issues/quick-actions/planning-actions';
import { mergeRequestKind } from '../merge-request.kind';
import { mergeRequestPolicy } from '../merge-request.policy';
import { MergeRequestsService } from '../merge-requests.service';
import { mergeRequestAssignees, mergeRequestReviewers } from '../people/merge-request-people';
import { MergeRequestBranches } from '../versions/branches';
import { applyMergeRequestFieldQuickAction, FIELD_ACTIONS, NAMES_PEOPLE } from './field-actions';
import type { FieldChanges } from './field-actions';

/** Facts that the quick actions of one text need: looked-up branches, labels and milestones. */
interface CommandFacts {
  readonly branches: FieldChanges['branches'];
  readonly planning: Awaited<ReturnType<typeof planLabelAndMilestoneCommands>>;
}

const SECOND = 'Another open merge request already exists for this source branch';

/**
 * Quick actions that change fields of a merge request. All commands of a text make one change, as one request would. They
 * run first, since milestones are locked before merge requests. Source: reference work-tracking 2.6.
 */
@Injectable()
export class MergeRequestQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly mergeRequests: MergeRequestsService,
    private readonly branches: MergeRequestBranches,
    readonly people: AssignedPeopleService,
    readonly directory: Directory,
  ) {
    actions.declareSet({
      names: [...Object.keys(FIELD_ACTIONS), ...Object.keys(PLANNING_ACTIONS)],
      isFirst: true,
      supportsKind: (kind) => kind === mergeRequestKind,
      plan: (context, commands) => this.planFieldActions(context, commands),
    });
  }

  private async planFieldActions(context: ActionContext, commands: readonly Command[]): Promise<ExecuteActions> {
    const { viewer } = context;
    const project = context.parent as ProjectScope;
    const branches = await this.findBranchesAfterCommands(context, commands);
    let planning: CommandFacts['planning'];
    const holds: ExecuteActions['holds'] = {
      places: async (tx) => {
        const isAllowed = mergeRequestPolicy.mayPlan(viewer, project);
        planning = await planLabelAndMilestoneCommands(tx, { viewer, project, isAllowed }, commands);
      },
    };
    const carryOut: ExecuteActions = (tx, on) =>
      this.executeFieldActions(tx, context, { on, commands }, { branches, planning });
    return Object.assign(carryOut, { holds });
  }

  private async executeFieldActions(
    tx: Tx,
    { viewer, parent }: ActionContext,
    { on, commands }: { readonly on: NoteableWithParent; readonly commands: readonly Command[] },
    { branches, planning }: CommandFacts,
  ): Promise<readonly ActionResult[]> {
    const project = parent as ProjectScope;
    const naming = commands.filter(({ name }) => NAMES_PEOPLE.includes(name));
    const people = await findNamedUsers(tx, this, { viewer, project }, naming);
    const mayPlan = mergeRequestPolicy.mayPlan(viewer, project);
    let outcomes: readonly ActionResult[] = [];
    const usable = branches !== null && 'before' in branches ? branches : null;
    try {
      await this.mergeRequests.change(tx, viewer, project, on.named, {
        update: planning.update,
        branches: usable,
        resolve: async (mergeRequest) => {
          const assigneeIds = await mergeRequestAssignees.userIds(tx, mergeRequest.id);
          const reviewerIds = await mergeRequestReviewers.userIds(tx, mergeRequest.id);
          const facts = { mergeRequest, assigneeIds, reviewerIds, people, mayPlan, branches };
          const changes: FieldChanges = { ...facts, update: {} };
          outcomes = commands.map(
            ({ name, argument }, index) =>
              planning.outcomes[index] ?? applyMergeRequestFieldQuickAction(changes, name, argument),
          );
          return changes.update;
        },
      });
    } catch (error) {
      if (violatesConstraint(error, 'uq_merge_requests_open_pair')) throw new Unprocessable(SECOND);
      throw error;
    }
    return outcomes;
  }

  /** Reads the branches after the commands. Returns null if none needs them; the reason if they cannot be used. */
  private async findBranchesAfterCommands(
    { on, parent, viewer }: ActionContext,
    commands: readonly Command[],
  ): Promise<FieldChanges['branches']> {
    const target = commands.findLast(({ name }) => name === 'target_branch');
    const stateEvent = commands.some(({ name }) => name === 'reopen') ? ('reopen' as const) : undefined;
    if (!on) return null;
    try {
      const asked = { targetBranch: target?.argument.trim(), stateEvent };
      return await this.branches.prepareUpdate(viewer, parent as ProjectScope, on.named, asked);
    } catch (error) {
      const why = describeQuickActionRefusal(error);
      return { why: error instanceof Invalid ? `the branch ${why}` : why };
    }
  }
}
