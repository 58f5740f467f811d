import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { knownLabels } from '../../labels/labelling/labelling';
import { chosenMilestone, milestonesTitled } from '../../milestones/assigning/chosen-milestone';
import type { Outcome } from '../../mentions/quick-actions/action-set';
import { argumentsOf } from '../../mentions/quick-actions/arguments';
import type { Command } from '../../mentions/quick-actions/commands-in';
import { placeOf } from '../../noteables/planning-place';
import type { IssueWish } from '../issue-change';
import { issuePolicy } from '../issue.policy';
import type { IssueProject } from '../issues.queries';

/** What the place knows of all that commands name. Shape: ids by name. */
interface Known {
  readonly labels: ReadonlyMap<string, number>;
  readonly milestones: ReadonlyMap<string, number>;
}

/** What the commands of one text make of labels and milestone, one after the other. */
interface Planning {
  all?: readonly string[];
  readonly add: Set<string>;
  readonly remove: Set<string>;
  milestoneId?: number | null;
}

type PlanningAction = (planning: Planning, known: Known, argument: string) => Outcome;

const not = (why: string): Outcome => ({ why });
const NO_LABEL = not('it names no label that is known here');

/** Shape: `carry` takes the names that are known. */
const labelAction =
  (
    key: 'add_label_ids' | 'remove_label_ids' | 'label_ids',
    said: (names: string) => string,
    carry: (planning: Planning, names: readonly string[]) => void,
  ): PlanningAction =>
  (planning, { labels }, argument) => {
    const names = argumentsOf.labels(argument).filter((name) => labels.has(name));
    if (names.length === 0) return NO_LABEL;
    carry(planning, names);
    const shown = names.map((name) => (/[\s,"]/.test(name) ? `~"${name}"` : `~${name}`)).join(' ');
    return { said: said(shown), changes: { [key]: names.map((name) => labels.get(name)) } };
  };

const label = labelAction(
  'add_label_ids',
  (names) => `Added ${names}.`,
  ({ add, remove }, names) => {
    for (const name of names) {
      remove.delete(name);
      add.add(name);
    }
  },
);
const unlabelSome = labelAction(
  'remove_label_ids',
  (names) => `Removed ${names}.`,
  ({ add, remove }, names) => {
    for (const name of names) {
      add.delete(name);
      remove.add(name);
    }
  },
);

/** All others go. */
function relabel(planning: Planning, names: readonly string[]): void {
  planning.add.clear();
  planning.remove.clear();
  planning.all = names;
}

/** Commands about labels and the milestone of an issue; only what exists is given. Source: reference work-tracking 2.6. */
export const PLANNING_ACTIONS: Readonly<Record<string, PlanningAction>> = {
  label,
  labels: label,
  unlabel: (planning, known, argument) => {
    if (argument !== '') return unlabelSome(planning, known, argument);
    relabel(planning, []);
    return { said: 'Removed all labels.', changes: { label_ids: [] } };
  },
  relabel: labelAction('label_ids', (names) => `Replaced all labels by ${names}.`, relabel),
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
  const { all, add, remove, milestoneId } = planning;
  const isLabelled = all !== undefined || add.size > 0 || remove.size > 0;
  if (place) await chosenMilestone(tx, place, milestoneId);
  const labels = isLabelled ? { all, add: [...add], remove: [...remove] } : undefined;
  return { outcomes, wish: { labels, milestoneId } };
}

async function knownTo(tx: Tx, place: IssueProject, commands: readonly Command[]): Promise<Known> {
  const names = commands.flatMap(({ argument }) => argumentsOf.labels(argument));
  const titles = commands.flatMap(({ argument }) => argumentsOf.milestone(argument) ?? []);
  const labels = await knownLabels(tx, place, [...new Set(names)]);
  return {
    labels: new Map(labels.map(({ id, title }) => [title, id])),
    milestones: await milestonesTitled(tx, place, [...new Set(titles)]),
  };
}
