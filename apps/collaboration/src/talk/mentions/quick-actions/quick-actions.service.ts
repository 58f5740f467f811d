import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { holdThings } from '../../../base/noteables/holding';
import { NoteableKinds } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { PlacedNoteable } from '../../../base/noteables/planning.policy';
import { attempted } from './action-set';
import type { ActionSet, Asking, CarriesOut, Outcome } from './action-set';
import { commandsIn } from './commands-in';
import type { Command, CommandedText } from './commands-in';

/** So many commands of one text are carried out: each may write a note of its own, and all count as one. Source: reference work-tracking 2.6. */
const MOST_COMMANDS = 20;

/** What became of the commands of a text. */
export interface ActionReport {
  readonly isAnyDone: boolean;
  /** What changed, by the keys that clients know. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** A sentence a command, in their order. */
  readonly sentences: readonly string[];
}

/**
 * Commands that are ready to be carried out, inside the transaction of their text. Shape: `say` writes what is left of the
 * text, before the commands that come last.
 */
export interface PlannedActions {
  /** First of all. Shape: null for a thing that is still to be opened. */
  hold(tx: Tx, on: PlacedNoteable | null): Promise<void>;
  carryOut(tx: Tx, on: PlacedNoteable, say?: () => Promise<void>): Promise<ActionReport>;
}
interface Part {
  readonly set: ActionSet;
  /** Which of the commands. */
  readonly at: readonly number[];
  readonly carryOut: CarriesOut;
}

/** The commands that wings declare, and how those of a text are carried out. Source: reference work-tracking 2.6. */
@Injectable()
export class QuickActionsService {
  private sets: readonly ActionSet[] = [];

  constructor(private readonly kinds: NoteableKinds) {}

  /** Errors: a plain Error for a name that is declared twice for things of one kind. */
  declare(set: ActionSet): void {
    const beside = this.sets.filter((other) => this.kinds.all.some((kind) => other.fits(kind) && set.fits(kind)));
    const known = beside.flatMap(({ names }) => names);
    const twice = set.names.filter((name) => known.includes(name));
    if (twice.length > 0) throw new Error(`two wings declare the quick action ${twice.join(', ')}`);
    this.sets = [...this.sets, set].sort((a, b) => rankOf(a) - rankOf(b));
  }

  /** What a text about a thing of a kind asks for. */
  read(kind: NoteableKind, text: string): CommandedText {
    return commandsIn(text, (name) => this.setOf(kind, name) !== undefined);
  }

  /** Shape: as `read` gives the commands. */
  async plan(asking: Asking, commands: readonly Command[]): Promise<PlannedActions> {
    const taken = commands.slice(0, MOST_COMMANDS);
    const parts: Part[] = [];
    for (const set of this.sets) {
      const at = [...taken.keys()].filter((index) => this.setOf(asking.kind, taken[index]!.name) === set);
      const own = at.map((index) => taken[index]!);
      if (at.length > 0) parts.push({ set, at, carryOut: await planned(set, asking, own) });
    }
    const isLast = ({ set }: Part): boolean => set.isLast === true;
    return {
      hold: (tx, on) => held(tx, asking.kind, parts, on),
      carryOut: async (tx, on, say) => {
        const outcomes: Outcome[] = [];
        await carriedOut(tx, on, { parts: parts.filter((part) => !isLast(part)), outcomes });
        await say?.();
        await carriedOut(tx, on, { parts: parts.filter(isLast), outcomes });
        return reportOf(taken, outcomes, commands.length);
      },
    };
  }

  private setOf(kind: NoteableKind, name: string): ActionSet | undefined {
    return this.sets.find((set) => set.names.includes(name) && set.fits(kind));
  }
}

function planned(set: ActionSet, asking: Asking, commands: readonly Command[]): CarriesOut | Promise<CarriesOut> {
  if (asking.isNew && set.isForKept)
    return () => Promise.resolve(commands.map(() => ({ why: 'it was opened just now' })));
  return set.plan(asking, commands);
}

/** All that the commands lock, whatever becomes of them. */
async function held(tx: Tx, kind: NoteableKind, parts: readonly Part[], on: PlacedNoteable | null): Promise<void> {
  const all = parts.flatMap(({ carryOut }) => carryOut.holds ?? []);
  for (const holds of all) await holds.places?.(tx, on);
  const things: number[] = [];
  for (const holds of all) things.push(...((await holds.things?.(tx, on)) ?? []));
  await holdThings(tx, kind, things);
  for (const holds of all) await holds.above?.(tx, on);
}

/** Writes what became of each command at its place among all. */
async function carriedOut(
  tx: Tx,
  on: PlacedNoteable,
  { parts, outcomes }: { readonly parts: readonly Part[]; readonly outcomes: Outcome[] },
): Promise<void> {
  for (const { at, carryOut } of parts) {
    const none = (refusal: Outcome): readonly Outcome[] => at.map(() => refusal);
    const done = await attempted<readonly Outcome[]>(tx, () => carryOut(tx, on), none);
    for (const [place, index] of at.entries()) outcomes[index] = done[place]!;
  }
}

/** Modules are made in an order of their own, in which sets are not to be carried out. */
function rankOf({ isFirst }: ActionSet): number {
  if (isFirst === 'above') return 0;
  return isFirst ? 1 : 2;
}

function reportOf(commands: readonly Command[], outcomes: readonly Outcome[], asked: number): ActionReport {
  const done = outcomes.flatMap((outcome) => ('said' in outcome ? [outcome.changes] : []));
  const sentences = outcomes.map((outcome, index) =>
    'said' in outcome ? outcome.said : `Could not apply /${commands[index]!.name}: ${withoutStop(outcome.why)}.`,
  );
  const more = asked > commands.length ? [`Only the first ${MOST_COMMANDS} commands are carried out.`] : [];
  return {
    isAnyDone: done.length > 0,
    changes: Object.assign({}, ...done) as ActionReport['changes'],
    sentences: [...sentences, ...more],
  };
}

function withoutStop(text: string): string {
  return /[.!]$/.test(text) ? text.slice(0, -1) : text;
}
