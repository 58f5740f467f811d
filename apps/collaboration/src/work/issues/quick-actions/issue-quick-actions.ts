import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { ExecuteActions, ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import { AssignedPeopleService } from '../../../planning/people/people';
import { issueKind } from '../issue.kind';
import { issuePolicy } from '../issue.policy';
import { IssuesService } from '../issues.service';
import { FIELD_ACTIONS, applyIssueFieldQuickAction } from './field-actions';
import type { FieldChanges } from './field-actions';
import { findNamedUsers } from './people-actions';
import { planLabelAndMilestoneCommands, PLANNING_ACTIONS } from './planning-actions';

type ProjectParent = Extract<NoteableWithParent['parent'], { readonly kind: 'project' }>;

/** Commands whose arguments are users. */
const NAMES_PEOPLE = ['assign', 'unassign', 'reassign'];

/**
 * Quick actions that change an issue. All commands of a text make one change, as one request would. They run first,
 * since milestones are locked before issues. Source: reference work-tracking 2.6.
 */
@Injectable()
export class IssueQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly issues: IssuesService,
    readonly people: AssignedPeopleService,
    readonly directory: Directory,
  ) {
    actions.declareSet({
      names: [...Object.keys(FIELD_ACTIONS), ...Object.keys(PLANNING_ACTIONS)],
      isFirst: true,
      supportsKind: (kind) => kind === issueKind,
      plan: ({ viewer, parent }, commands) => this.planFieldActions(viewer, parent as ProjectParent, commands),
    });
  }

  private planFieldActions(
    viewer: SignedInViewer,
    project: ProjectParent,
    commands: readonly Command[],
  ): ExecuteActions {
    let planning: Awaited<ReturnType<typeof planLabelAndMilestoneCommands>>;
    const holds: ExecuteActions['holds'] = {
      places: async (tx) => {
        planning = await planLabelAndMilestoneCommands(
          tx,
          { viewer, project, isAllowed: issuePolicy.mayPlan(viewer, project) },
          commands,
        );
      },
    };
    const carryOut: ExecuteActions = (tx, on) => this.executeFieldActions(tx, viewer, on, commands, planning);
    return Object.assign(carryOut, { holds });
  }

  private async executeFieldActions(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableWithParent,
    commands: readonly Command[],
    planning: Awaited<ReturnType<typeof planLabelAndMilestoneCommands>>,
  ): Promise<readonly ActionResult[]> {
    const project = on.parent as ProjectParent;
    const naming = commands.filter(({ name }) => NAMES_PEOPLE.includes(name));
    const people = await findNamedUsers(tx, this, { viewer, project }, naming);
    const permits = issuePolicy.fieldPermissions(viewer, project);
    let outcomes: readonly ActionResult[] = [];
    await this.issues.change(tx, viewer, project, on.named, {
      ...planning.update,
      resolve: (issue) => {
        const changes: FieldChanges = { ...issue, viewer, project, permits, people, update: {} };
        outcomes = commands.map(
          ({ name, argument }, index) =>
            planning.outcomes[index] ?? applyIssueFieldQuickAction(changes, name, argument),
        );
        return changes.update;
      },
    });
    return outcomes;
  }
}
