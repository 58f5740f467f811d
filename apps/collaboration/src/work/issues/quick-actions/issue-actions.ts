import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { CarriesOut, Outcome } from '../../../talk/mentions/quick-actions/action-set';
import { argumentsOf } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/commands-in';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import { aboveOf } from '../../../base/noteables/reader';
import type { PlacedNoteable } from '../../../base/noteables/planning.policy';
import { Assignees } from '../assignees/assignees';
import { issueKind } from '../issue.kind';
import { issuePolicy } from '../issue.policy';
import { IssuesService } from '../issues.service';
import type { IssueProject } from '../issues.queries';
import { FIELD_ACTIONS, folded } from './field-actions';
import type { Folding, PeopleMeant } from './field-actions';
import { planned, PLANNING_ACTIONS } from './planning-actions';

type Place = Extract<PlacedNoteable['parent'], { readonly kind: 'project' }>;

/** Commands that name people. */
const NAMES_PEOPLE = ['assign', 'unassign', 'reassign'];

/**
 * Commands that change an issue: all of one text are one change, as one request would be. First, since milestones are
 * locked before issues. Source: reference work-tracking 2.6.
 */
@Injectable()
export class IssueActions {
  constructor(
    actions: QuickActionsService,
    private readonly issues: IssuesService,
    private readonly assignees: Assignees,
    private readonly directory: Directory,
  ) {
    actions.declare({
      names: [...Object.keys(FIELD_ACTIONS), ...Object.keys(PLANNING_ACTIONS)],
      isFirst: true,
      fits: (kind) => kind === issueKind,
      plan: ({ viewer, parent }, commands) => this.plan(viewer, parent as Place, commands),
    });
  }

  private plan(viewer: SignedInViewer, project: Place, commands: readonly Command[]): CarriesOut {
    let planning: Awaited<ReturnType<typeof planned>>;
    const holds: CarriesOut['holds'] = {
      places: async (tx) => {
        planning = await planned(tx, viewer, project, commands);
      },
    };
    const carryOut: CarriesOut = (tx, on) => this.carryOut(tx, viewer, on, commands, planning);
    return Object.assign(carryOut, { holds });
  }

  private async carryOut(
    tx: Tx,
    viewer: SignedInViewer,
    on: PlacedNoteable,
    commands: readonly Command[],
    planning: Awaited<ReturnType<typeof planned>>,
  ): Promise<readonly Outcome[]> {
    const project = on.parent as Place;
    const people = await this.named(tx, viewer, project, commands);
    const permits = issuePolicy.permits(viewer, project);
    let outcomes: readonly Outcome[] = [];
    await this.issues.change(tx, viewer, project, on.named, {
      ...planning.wish,
      now: (issue) => {
        const folding: Folding = { ...issue, viewer, project, permits, people, wish: {} };
        outcomes = commands.map(
          ({ name, argument }, index) => planning.outcomes[index] ?? folded(folding, name, argument),
        );
        return folding.wish;
      },
    });
    return outcomes;
  }

  private async named(
    tx: Tx,
    viewer: SignedInViewer,
    project: IssueProject,
    commands: readonly Command[],
  ): Promise<PeopleMeant> {
    const naming = commands.filter(({ name }) => NAMES_PEOPLE.includes(name));
    if (naming.length === 0) return { me: '', users: new Map(), known: new Set(), eligible: new Set() };
    const own = await this.directory.users([viewer.userId], tx);
    const me = own.get(viewer.userId)?.username ?? '';
    const names = new Set(naming.flatMap(({ argument }) => argumentsOf.people(argument, me)));
    const users = await this.directory.usersByUsername([...names], tx);
    const ids = [...users.values()].map(({ id }) => id);
    const known = await this.directory.knownTo(viewer, [...users.values()], tx, aboveOf(project));
    const eligible = await this.assignees.eligible(viewer, project, ids, tx);
    return { me, users, known: new Set(known.map(({ id }) => id)), eligible: new Set(eligible.map(({ id }) => id)) };
  }
}
