import type { Parent, Tx } from '@rookery/persistence';
import { knownLabels } from '../../../planning/labels/labelling/labelling';
import type { LabelWish } from '../../../planning/labels/labelling/labelling';
import type { Outcome } from '../../../talk/mentions/quick-actions/action-set';
import { argumentsOf } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/commands-in';

/** What the commands of one text make of labels, one after the other. */
export interface Labelling {
  all?: readonly string[];
  readonly add: Set<string>;
  readonly remove: Set<string>;
}

/** Shape: `known` are ids by name. */
type LabelAction = (labelling: Labelling, known: ReadonlyMap<string, number>, argument: string) => Outcome;

const NO_LABEL: Outcome = { why: 'it names no label that is known here' };

/** Shape: `carry` takes the names that are known. */
const labelAction =
  (
    key: 'add_label_ids' | 'remove_label_ids' | 'label_ids',
    said: (names: string) => string,
    carry: (labelling: Labelling, names: readonly string[]) => void,
  ): LabelAction =>
  (labelling, known, argument) => {
    const names = argumentsOf.labels(argument).filter((name) => known.has(name));
    if (names.length === 0) return NO_LABEL;
    carry(labelling, names);
    const shown = names.map((name) => (/[\s,"]/.test(name) ? `~"${name}"` : `~${name}`)).join(' ');
    return { said: said(shown), changes: { [key]: names.map((name) => known.get(name)) } };
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
function relabel(labelling: Labelling, names: readonly string[]): void {
  labelling.add.clear();
  labelling.remove.clear();
  labelling.all = names;
}

/** Commands about labels of whatever has some; only what exists is given. Source: reference work-tracking 2.6. */
export const LABEL_ACTIONS: Readonly<Record<string, LabelAction>> = {
  label,
  labels: label,
  unlabel: (labelling, known, argument) => {
    if (argument !== '') return unlabelSome(labelling, known, argument);
    relabel(labelling, []);
    return { said: 'Removed all labels.', changes: { label_ids: [] } };
  },
  relabel: labelAction('label_ids', (names) => `Replaced all labels by ${names}.`, relabel),
};

/** The labels that commands name, as far as the place knows them. Shape: ids by name. */
export async function labelsMeant(
  tx: Tx,
  place: Parent,
  commands: readonly Command[],
): Promise<ReadonlyMap<string, number>> {
  const names = commands.flatMap(({ argument }) => argumentsOf.labels(argument));
  const labels = await knownLabels(tx, place, [...new Set(names)]);
  return new Map(labels.map(({ id, title }) => [title, id]));
}

/** Shape: undefined when the labels stay. */
export function labelWishOf({ all, add, remove }: Labelling): LabelWish | undefined {
  const isLabelled = all !== undefined || add.size > 0 || remove.size > 0;
  return isLabelled ? { all, add: [...add], remove: [...remove] } : undefined;
}
