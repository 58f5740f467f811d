import type { SignedInViewer } from '@rookery/kernel';
import { Conflict, Forbidden, Invalid, NotFound, NotModified, Refused, Unprocessable } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { PlacedNoteable } from '../../../base/noteables/planning.policy';
import type { Command } from './commands-in';

/** What became of a command: what changed, in a sentence and by the keys that clients know, or why nothing did. */
export type Outcome =
  | { readonly said: string; readonly changes: Readonly<Record<string, unknown>> }
  | { readonly why: string };

/** Carries commands out on one thing. Shape: as many outcomes as commands, in their order. */
export interface CarriesOut {
  (tx: Tx, on: PlacedNoteable): Promise<readonly Outcome[]>;
  readonly holds?: Holds;
}

/**
 * What commands lock. It is held before any command of the text is carried out, by the parts in this order, so that of
 * many texts at once nobody waits in a ring. Shape: the thing is null while it is still to be opened.
 */
export interface Holds {
  /** Where the thing is or goes, and what is chosen from there. */
  places?(tx: Tx, on: PlacedNoteable | null): Promise<void>;
  /** Ids of things of the kind that are written besides or linked, and of the thing, where another part comes after. */
  things?(tx: Tx, on: PlacedNoteable | null): Promise<readonly number[]>;
  /** What stands above the thing. */
  above?(tx: Tx, on: PlacedNoteable | null): Promise<void>;
}

/** Who asks, and of what kind the thing is: it may still have to be opened. */
export interface Asking {
  readonly viewer: SignedInViewer;
  readonly kind: NoteableKind;
  readonly parent: PlacedNoteable['parent'];
  /** Whether the thing is opened by the same text. */
  readonly isNew?: true;
  /** The epic that the same request puts it into. */
  readonly epicId?: number | null | undefined;
}

/**
 * Commands of the wing that owns what they change. They are carried out by its service as if its route were called, with
 * the rights of who wrote them. Source: reference work-tracking 2.6.
 */
export interface ActionSet {
  /** In small letters. */
  readonly names: readonly string[];
  /** Before all others: what locks more than the thing; before these too: what locks what the thing serves. */
  readonly isFirst?: true | 'above';
  /** After the note of the text is written: what takes the thing elsewhere, with all that was said. */
  readonly isLast?: true;
  /** Whether it is refused on what is opened by the same text. */
  readonly isForKept?: true;
  fits(kind: NoteableKind): boolean;
  /** Asked before the transaction, where other projects may be looked up. */
  plan(asking: Asking, commands: readonly Command[]): CarriesOut | Promise<CarriesOut>;
}

/** Commands of which each is a step of its own. Errors of a step: what it refuses is why it is not done. */
export async function oneByOne(
  tx: Tx,
  commands: readonly Command[],
  step: (command: Command, index: number) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [index, command] of commands.entries()) {
    outcomes.push(
      await attempted<Outcome>(
        tx,
        () => step(command, index),
        (refusal) => refusal,
      ),
    );
  }
  return outcomes;
}

/** A step, or what is made of its refusal. Errors: those that end the whole, such as too many notes in a minute. */
export async function attempted<T>(
  tx: Tx,
  step: () => Promise<T>,
  otherwise: (refusal: { readonly why: string }) => T,
): Promise<T> {
  try {
    return await tx.attempt(step);
  } catch (error) {
    return otherwise({ why: reasonOf(error) });
  }
}

/** Why a step was refused, in words that name nobody and nothing. Errors: the error, when it is no refusal. */
export function reasonOf(error: unknown): string {
  if (error instanceof NotModified) return 'it is so already';
  if (error instanceof Forbidden) return 'you are not allowed to';
  if (error instanceof NotFound) return 'it was not found';
  if (error instanceof Invalid) return Object.values(error.fields).flat().join(', ');
  if (error instanceof Refused || error instanceof Conflict || error instanceof Unprocessable) return error.message;
  throw error;
}
