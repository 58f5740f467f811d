import type { Parent, Tx } from '@rookery/persistence';
import { findReachableLabels } from '../../../planning/labels/labelling/labelling';
import type { RequestedLabels } from '../../../planning/labels/labelling/labelling';
import type { ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import { parseArgument } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';

/** Changes of labels by the commands of a text. */
export interface CommandedLabels {
  all?: readonly string[];
  readonly add: Set<string>;
  readonly remove: Set<string>;
}

/** A command on labels. `known` maps names to ids. */
type LabelAction = (labelling: CommandedLabels, known: ReadonlyMap<string, number>, argument: string) => ActionResult;

const NO_LABEL: ActionResult = { why: 'it names no label that is known here' };

/** Builds a command on labels. `carry` receives the known names. */
const labelAction =
  (
    key: 'add_label_ids' | 'remove_label_ids' | 'label_ids',
    said: (names: string) => string,
    carry: (labelling: CommandedLabels, names: readonly string[]) => void,
  ): LabelAction =>
  (labelling, known, argument) => {
    const names = parseArgument.labels(argument).filter((name) => known.has(name));
    if (names.length === 0) return NO_LABEL;
    carry(labelling, names);
    const shown = names.map((name) => (/[\s,"]/.test(name) ? `~"${name}"` : `~${name}`)).join(' ');
    return { said: said(shown), changes: { [key]: names.map((name) => known.get(name)) } };
  };

const addLabels = labelAction(
  'add_label_ids',
  (names) => `Added ${names}.`,
  ({ add, remove }, names) => {
    for (const name of names) {
      remove.delete(name);
      // The order counts: the last label of a scope stays.
      add.delete(name);
      add.add(name);
    }
  },
);
const removeLabels = labelAction(
  'remove_label_ids',
  (names) => `Removed ${names}.`,
  ({ add, remove }, names) => {
    for (const name of names) {
      add.delete(name);
      remove.add(name);
    }
  },
);

/** Replaces all labels. */
function replaceLabels(labelling: CommandedLabels, names: readonly string[]): void {
  labelling.add.clear();
  labelling.remove.clear();
  labelling.all = names;
}

/**
 * Commands on labels, for all kinds that have labels. They use existing labels only. Source: reference work-tracking
 * 2.6.
 */
export const LABEL_ACTIONS: Readonly<Record<string, LabelAction>> = {
  label: addLabels,
  labels: addLabels,
  unlabel: (labelling, known, argument) => {
    if (argument !== '') return removeLabels(labelling, known, argument);
    replaceLabels(labelling, []);
    return { said: 'Removed all labels.', changes: { label_ids: [] } };
  },
  relabel: labelAction('label_ids', (names) => `Replaced all labels by ${names}.`, replaceLabels),
};

/** Looks up the labels that commands name in a project or group. Returns their ids by name. */
export async function findCommandLabelIds(
  tx: Tx,
  place: Parent,
  commands: readonly Command[],
): Promise<ReadonlyMap<string, number>> {
  const names = commands.flatMap(({ argument }) => parseArgument.labels(argument));
  const labels = await findReachableLabels(tx, place, [...new Set(names)]);
  return new Map(labels.map(({ id, title }) => [title, id]));
}

/** Returns the change of labels, or undefined if they stay. */
export function toRequestedLabels({ all, add, remove }: CommandedLabels): RequestedLabels | undefined {
  const isLabelled = all !== undefined || add.size > 0 || remove.size > 0;
  return isLabelled ? { all, add: [...add], remove: [...remove] } : undefined;
}
