import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { chosenMilestone, milestonesTitled } from '../../../planning/milestones/assigning/chosen-milestone';
import type { Outcome } from '../../../talk/mentions/quick-actions/action-set';
import { argumentsOf } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/commands-in';
import { placeOf } from '../../../base/noteables/planning-place';
import type { IssueWish } from '../issue-change';
import { issuePolicy } from '../issue.policy';
import type { IssueProject } from '../issues.queries';
import { LABEL_ACTIONS, labelsMeant, labelWishOf } from './label-actions';
import type { Labelling } from './label-actions';

/** What the place knows of all that commands name. Shape: ids by name. */
interface Known {
  readonly labels: ReadonlyMap<string, number>;
  readonly milestones: ReadonlyMap<string, number>;
}

/** What the commands of one text make of labels and milestone, one after the other. */
interface Planning extends Labelling {
  milestoneId?: number | null;
}

type PlanningAction = (planning: Planning, known: Known, argument: string) => Outcome;

const not = (why: string): Outcome => ({ why });
const labelActions = Object.entries(LABEL_ACTIONS).map(([name, act]): [string, PlanningAction] => [
  name,
  (planning, { labels }, argument) => act(planning, labels, argument),
]);

/** Commands about labels and the milestone of an issue; only what exists is given. Source: reference work-tracking 2.6. */
export const PLANNING_ACTIONS: Readonly<Record<string, PlanningAction>> = {
  ...Object.fromEntries(labelActions),
  milestone: (planning, { milestones }, argument) => {
    const title = argumentsOf.milestone(argument);
    const id = title === null ? undefined : milestones.get(title);
    if (id === undefined) return not('it names no milestone that is known here');
    planning.milestoneId = id;
    return { said: `Set the milestone to %"${title}".`, changes: { milestone_id: id } };
  },
  remove_milestone: (planning) => {
    planning.milestoneId = null;
    return { said: 'Removed the milestone.', changes: { milestone_id: null } };
  },
};

/** Looks up what the commands name, holds the milestone, and says what is wished for. Shape: an outcome for each that stands in the table. */
export async function planned(
  tx: Tx,
  viewer: SignedInViewer,
  project: IssueProject,
  commands: readonly Command[],
): Promise<{ outcomes: (Outcome | null)[]; wish: Pick<IssueWish, 'labels' | 'milestoneId'> }> {
  const named = commands.filter(({ name }) => Object.hasOwn(PLANNING_ACTIONS, name));
  const isAllowed = named.length > 0 && issuePolicy.mayPlan(viewer, project);
  const place = isAllowed ? await placeOf(tx, viewer, project) : null;
  const known = place && (await knownTo(tx, place, named));
  const planning: Planning = { add: new Set(), remove: new Set() };
  const outcomes = commands.map((command) => {
    if (!named.includes(command)) return null;
    return known ? PLANNING_ACTIONS[command.name]!(planning, known, command.argument) : not('you are not allowed to');
  });
  const { milestoneId } = planning;
  if (place) await chosenMilestone(tx, place, milestoneId);
  return { outcomes, wish: { labels: labelWishOf(planning), milestoneId } };
}

async function knownTo(tx: Tx, place: IssueProject, commands: readonly Command[]): Promise<Known> {
  const titles = commands.flatMap(({ argument }) => argumentsOf.milestone(argument) ?? []);
  return {
    labels: await labelsMeant(tx, place, commands),
    milestones: await milestonesTitled(tx, place, [...new Set(titles)]),
  };
}
