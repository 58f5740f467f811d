import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { ExecuteActions, Outcome } from '../../../talk/mentions/quick-actions/action-set';
import { argumentsOf } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import { ancestorIdsOf } from '../../../base/noteables/reader';
import type { PlacedNoteable } from '../../../base/noteables/planning.policy';
import { People } from '../../../planning/people/people';
import { issueKind } from '../issue.kind';
import { issuePolicy } from '../issue.policy';
import { IssuesService } from '../issues.service';
import type { IssueProject } from '../issues.queries';
import { FIELD_ACTIONS, applyFieldAction } from './field-actions';
import type { FieldChanges, NamedUsers } from './field-actions';
import { planCommands, PLANNING_ACTIONS } from './planning-actions';

type Place = Extract<PlacedNoteable['parent'], { readonly kind: 'project' }>;

/** Commands whose arguments are users. */
const NAMES_PEOPLE = ['assign', 'unassign', 'reassign'];

/**
 * Quick actions that change an issue. All commands of a text make one change, as one request would. They run first,
 * since milestones are locked before issues. Source: reference work-tracking 2.6.
 */
@Injectable()
export class IssueActions {
  constructor(
    actions: QuickActionsService,
    private readonly issues: IssuesService,
    private readonly people: People,
    private readonly directory: Directory,
  ) {
    actions.declare({
      names: [...Object.keys(FIELD_ACTIONS), ...Object.keys(PLANNING_ACTIONS)],
      isFirst: true,
      fits: (kind) => kind === issueKind,
      plan: ({ viewer, parent }, commands) => this.plan(viewer, parent as Place, commands),
    });
  }

  private plan(viewer: SignedInViewer, project: Place, commands: readonly Command[]): ExecuteActions {
    let planning: Awaited<ReturnType<typeof planCommands>>;
    const holds: ExecuteActions['holds'] = {
      places: async (tx) => {
        planning = await planCommands(tx, viewer, project, commands);
      },
    };
    const carryOut: ExecuteActions = (tx, on) => this.carryOut(tx, viewer, on, commands, planning);
    return Object.assign(carryOut, { holds });
  }

  private async carryOut(
    tx: Tx,
    viewer: SignedInViewer,
    on: PlacedNoteable,
    commands: readonly Command[],
    planning: Awaited<ReturnType<typeof planCommands>>,
  ): Promise<readonly Outcome[]> {
    const project = on.parent as Place;
    const people = await this.namedUsers(tx, viewer, project, commands);
    const permits = issuePolicy.fieldPermissions(viewer, project);
    let outcomes: readonly Outcome[] = [];
    await this.issues.change(tx, viewer, project, on.named, {
      ...planning.update,
      resolve: (issue) => {
        const changes: FieldChanges = { ...issue, viewer, project, permits, people, update: {} };
        outcomes = commands.map(
          ({ name, argument }, index) => planning.outcomes[index] ?? applyFieldAction(changes, name, argument),
        );
        return changes.update;
      },
    });
    return outcomes;
  }

  private async namedUsers(
    tx: Tx,
    viewer: SignedInViewer,
    project: IssueProject,
    commands: readonly Command[],
  ): Promise<NamedUsers> {
    const naming = commands.filter(({ name }) => NAMES_PEOPLE.includes(name));
    if (naming.length === 0) return { me: '', users: new Map(), known: new Set(), eligible: new Set() };
    const own = await this.directory.users([viewer.userId], tx);
    const me = own.get(viewer.userId)?.username ?? '';
    const names = new Set(naming.flatMap(({ argument }) => argumentsOf.people(argument, me)));
    const users = await this.directory.usersByUsername([...names], tx);
    const ids = [...users.values()].map(({ id }) => id);
    const known = await this.directory.filterVisible(viewer, [...users.values()], tx, ancestorIdsOf(project));
    const eligible = await this.people.eligible(viewer, project, ids, tx);
    return { me, users, known: new Set(known.map(({ id }) => id)), eligible: new Set(eligible.map(({ id }) => id)) };
  }
}
