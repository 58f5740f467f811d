import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { lockMilestone, findMilestonesByTitle } from '../../../planning/milestones/assigning/milestone-choice';
import type { ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import { parseArgument } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { withCurrentAncestors } from '../../../base/noteables/planning-place';
import type { IssueUpdate } from '../issue-change';
import type { IssueProject } from '../issues.queries';
import { LABEL_ACTIONS, findCommandLabelIds, toRequestedLabels } from './label-actions';
import type { CommandedLabels } from './label-actions';

/** Labels and milestones that commands name and that exist: their ids by name. */
interface KnownIdsByName {
  readonly labels: ReadonlyMap<string, number>;
  readonly milestones: ReadonlyMap<string, number>;
}

/** Changes of labels and milestone by the commands of a text. */
interface PlanningChanges extends CommandedLabels {
  milestoneId?: number | null;
}

/** A caller, and whether they may set labels and milestones in a project. */
interface PlanningCaller {
  readonly viewer: SignedInViewer;
  readonly project: IssueProject;
  readonly isAllowed: boolean;
}

type PlanningAction = (planning: PlanningChanges, known: KnownIdsByName, argument: string) => ActionResult;

const createActionFailure = (why: string): ActionResult => ({ why });
const labelActions = Object.entries(LABEL_ACTIONS).map(([name, act]): [string, PlanningAction] => [
  name,
  (planning, { labels }, argument) => act(planning, labels, argument),
]);

/**
 * Commands on labels and the milestone of an issue or merge request. They use existing ones only. Source: reference work-tracking 2.6.
 */
export const PLANNING_ACTIONS: Readonly<Record<string, PlanningAction>> = {
  ...Object.fromEntries(labelActions),
  milestone: (planning, { milestones }, argument) => {
    const title = parseArgument.milestone(argument);
    const id = title === null ? undefined : milestones.get(title);
    if (id === undefined) return createActionFailure('it names no milestone that is known here');
    planning.milestoneId = id;
    return { said: `Set the milestone to %"${title}".`, changes: { milestone_id: id } };
  },
  remove_milestone: (planning) => {
    planning.milestoneId = null;
    return { said: 'Removed the milestone.', changes: { milestone_id: null } };
  },
};

/**
 * Looks up the labels and milestones that commands name, locks the milestone, and computes the update. Returns an
 * outcome for each command of `PLANNING_ACTIONS`, and null for other commands.
 */
export async function planLabelAndMilestoneCommands(
  tx: Tx,
  { viewer, project, isAllowed }: PlanningCaller,
  commands: readonly Command[],
): Promise<{ outcomes: (ActionResult | null)[]; update: Pick<IssueUpdate, 'labels' | 'milestoneId'> }> {
  const named = commands.filter(({ name }) => Object.hasOwn(PLANNING_ACTIONS, name));
  const place = isAllowed && named.length > 0 ? await withCurrentAncestors(tx, viewer, project) : null;
  const known = place && (await findLabelAndMilestoneIdsByName(tx, place, named));
  const planning: PlanningChanges = { add: new Set(), remove: new Set() };
  const outcomes = commands.map((command) => {
    if (!named.includes(command)) return null;
    return known
      ? PLANNING_ACTIONS[command.name]!(planning, known, command.argument)
      : createActionFailure('you are not allowed to');
  });
  const { milestoneId } = planning;
  if (place) await lockMilestone(tx, place, milestoneId);
  return { outcomes, update: { labels: toRequestedLabels(planning), milestoneId } };
}

async function findLabelAndMilestoneIdsByName(
  tx: Tx,
  project: IssueProject,
  commands: readonly Command[],
): Promise<KnownIdsByName> {
  const titles = commands.flatMap(({ argument }) => parseArgument.milestone(argument) ?? []);
  return {
    labels: await findCommandLabelIds(tx, project, commands),
    milestones: await findMilestonesByTitle(tx, project, [...new Set(titles)]),
  };
}
