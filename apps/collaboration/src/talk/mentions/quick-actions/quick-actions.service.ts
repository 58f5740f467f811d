import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { lockNoteables } from '../../../base/noteables/noteable-locks';
import { NoteableKinds } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import { tryStep } from './action-set';
import type { ActionSet, ActionContext, ExecuteActions, ActionResult } from './action-set';
import { parseQuickActionCommands } from './parse-commands';
import type { Command, CommandedText } from './parse-commands';

/**
 * Maximum number of executed quick actions per text: each may write a system note, and all count as one note. Source:
 * reference work-tracking 2.6.
 */
const MAX_COMMANDS = 20;

/** Results of the quick actions of a text. */
interface ActionReport {
  readonly isAnyDone: boolean;
  /** Changes by their API keys. */
  readonly changes: Readonly<Record<string, unknown>>;
  /** One sentence per command, in their order. */
  readonly sentences: readonly string[];
}

/** Prepared quick actions, to be executed in the transaction that writes their text. */
export interface PlannedActions {
  /** Takes all locks, before any other write. `on` is null if the noteable will be created later in the transaction. */
  lock(tx: Tx, on: NoteableWithParent | null): Promise<void>;
  /**
   * Executes the quick actions. `writeRest` writes the rest of the text. It runs before the quick actions with
   * `isLast`.
   */
  execute(tx: Tx, on: NoteableWithParent, writeRest?: () => Promise<void>): Promise<ActionReport>;
}

/** Commands of a text that belong to one set. */
interface CommandGroup {
  readonly set: ActionSet;
  /** Indexes of the commands in the text. */
  readonly at: readonly number[];
  readonly carryOut: ExecuteActions;
}

/**
 * Collects the quick actions that wings declare, and parses and executes those of a text. Source: reference
 * work-tracking 2.6.
 */
@Injectable()
export class QuickActionsService {
  private sets: readonly ActionSet[] = [];

  constructor(private readonly kinds: NoteableKinds) {}

  /** Adds quick actions at start-up. Errors: a plain Error if a name is declared twice for one kind. */
  declareSet(set: ActionSet): void {
    const overlapping = this.sets.filter((other) =>
      this.kinds.all.some((kind) => other.supportsKind(kind) && set.supportsKind(kind)),
    );
    const known = overlapping.flatMap(({ names }) => names);
    const duplicates = set.names.filter((name) => known.includes(name));
    if (duplicates.length > 0) throw new Error(`two wings declare the quick action ${duplicates.join(', ')}`);
    this.sets = [...this.sets, set].sort((a, b) => executionRank(a) - executionRank(b));
  }

  /** Parses the quick actions in a text of a noteable. */
  readCommands(kind: NoteableKind, text: string): CommandedText {
    return parseQuickActionCommands(text, (name) => this.findSet(kind, name) !== undefined);
  }

  /** Prepares quick actions. `commands` are from the result of `readCommands`. */
  async planActions(context: ActionContext, commands: readonly Command[]): Promise<PlannedActions> {
    const executed = commands.slice(0, MAX_COMMANDS);
    const parts: CommandGroup[] = [];
    for (const set of this.sets) {
      const at = [...executed.keys()].filter((index) => this.findSet(context.kind, executed[index]!.name) === set);
      const ownCommands = at.map((index) => executed[index]!);
      if (at.length > 0) parts.push({ set, at, carryOut: await planQuickActions(set, context, ownCommands) });
    }
    const isLast = ({ set }: CommandGroup): boolean => set.isLast === true;
    return {
      lock: (tx, on) => takeLocksForQuickActions(tx, context.kind, parts, on),
      execute: async (tx, on, writeRest) => {
        const outcomes: ActionResult[] = [];
        await executeCommandGroups(tx, on, { parts: parts.filter((part) => !isLast(part)), outcomes });
        await writeRest?.();
        await executeCommandGroups(tx, on, { parts: parts.filter(isLast), outcomes });
        return createQuickActionReport(executed, outcomes, commands.length);
      },
    };
  }

  private findSet(kind: NoteableKind, name: string): ActionSet | undefined {
    return this.sets.find((set) => set.names.includes(name) && set.supportsKind(kind));
  }
}

function planQuickActions(
  set: ActionSet,
  context: ActionContext,
  commands: readonly Command[],
): ExecuteActions | Promise<ExecuteActions> {
  if (context.isNew && set.isForExistingOnly)
    return () => Promise.resolve(commands.map(() => ({ why: 'it was opened just now' })));
  return set.plan(context, commands);
}

/** Takes the locks of all quick actions, even if they are refused later. */
async function takeLocksForQuickActions(
  tx: Tx,
  kind: NoteableKind,
  parts: readonly CommandGroup[],
  on: NoteableWithParent | null,
): Promise<void> {
  const all = parts.flatMap(({ carryOut }) => carryOut.holds ?? []);
  for (const locks of all) await locks.places?.(tx, on);
  const noteableIds: number[] = [];
  for (const locks of all) noteableIds.push(...((await locks.things?.(tx, on)) ?? []));
  await lockNoteables(tx, kind, noteableIds);
  for (const locks of all) await locks.above?.(tx, on);
}

/** Executes parts and stores each outcome at the index of its command. */
async function executeCommandGroups(
  tx: Tx,
  on: NoteableWithParent,
  { parts, outcomes }: { readonly parts: readonly CommandGroup[]; readonly outcomes: ActionResult[] },
): Promise<void> {
  for (const { at, carryOut } of parts) {
    const none = (refusal: ActionResult): readonly ActionResult[] => at.map(() => refusal);
    const done = await tryStep<readonly ActionResult[]>(tx, () => carryOut(tx, on), none);
    for (const [place, index] of at.entries()) outcomes[index] = done[place]!;
  }
}

/** Order of execution, independent of the order in which Nest creates the modules. */
function executionRank({ isFirst }: ActionSet): number {
  if (isFirst === 'above') return 0;
  return isFirst ? 1 : 2;
}

function createQuickActionReport(
  commands: readonly Command[],
  outcomes: readonly ActionResult[],
  total: number,
): ActionReport {
  const done = outcomes.flatMap((outcome) => ('said' in outcome ? [outcome.changes] : []));
  const sentences = outcomes.map((outcome, index) =>
    'said' in outcome
      ? outcome.said
      : `Could not apply /${commands[index]!.name}: ${withoutFinalPunctuation(outcome.why)}.`,
  );
  const more = total > commands.length ? [`Only the first ${MAX_COMMANDS} commands are carried out.`] : [];
  return {
    isAnyDone: done.length > 0,
    changes: Object.assign({}, ...done) as ActionReport['changes'],
    sentences: [...sentences, ...more],
  };
}

function withoutFinalPunctuation(text: string): string {
  return /[.!]$/.test(text) ? text.slice(0, -1) : text;
}
