import type { SignedInViewer } from '@rookery/kernel';
import {
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  NotModified,
  Refused,
  Unauthorized,
  Unprocessable,
} from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import type { Command } from './parse-commands';

/** Result of a quick action: a message plus the changes by their API keys, or the reason it had no effect. */
export type ActionResult =
  | { readonly said: string; readonly changes: Readonly<Record<string, unknown>> }
  | { readonly why: string };

/** Executes quick actions on one noteable. Returns one outcome per command, in the same order. */
export interface ExecuteActions {
  (tx: Tx, on: NoteableWithParent): Promise<readonly ActionResult[]>;
  readonly holds?: ActionLocks;
}

/**
 * Locks of quick actions. All quick actions of a text are locked before the first is executed, in the order of these
 * methods, so that concurrent texts do not deadlock. `on` is null for a noteable that the same request will create.
 */
interface ActionLocks {
  /** Locks the projects or groups of the noteable, before and after a move, and the rows that are selected from them. */
  places?(tx: Tx, on: NoteableWithParent | null): Promise<void>;
  /**
   * Returns ids of further noteables of the kind to lock, which are changed or linked too. Includes the noteable itself if
   * `above` locks rows after it.
   */
  things?(tx: Tx, on: NoteableWithParent | null): Promise<readonly number[]>;
  /** Locks the parents of the noteable: the epic of an issue, or the tree of an epic. */
  above?(tx: Tx, on: NoteableWithParent | null): Promise<void>;
}

/** Context of quick actions: the viewer, and the kind and parent of the noteable, which may not exist yet. */
export interface ActionContext {
  readonly viewer: SignedInViewer;
  readonly kind: NoteableKind;
  readonly parent: NoteableWithParent['parent'];
  /** The noteable, if it exists already. */
  readonly on?: NoteableWithParent;
  /** Head of the merge request that the author of the text knows. */
  readonly headSha?: string | null | undefined;
  /** Set if the same request creates the noteable. */
  readonly isNew?: true;
  /** Id of the epic that the same request sets. */
  readonly epicId?: number | null | undefined;
}

/**
 * Quick actions declared by the wing that owns the changed data. Its service executes them like its routes, with the author's
 * permissions. Source: reference work-tracking 2.6.
 */
export interface ActionSet {
  /** Names in lower case. */
  readonly names: readonly string[];
  /**
   * Runs before the others because it locks more rows than the noteable. `above` runs first, because it locks parent
   * epics.
   */
  readonly isFirst?: true | 'above';
  /** Runs after the comment is written that contains the command, because it moves or copies the noteable with its notes. */
  readonly isLast?: true;
  /** Refused if the same request creates the noteable. */
  readonly isForExistingOnly?: true;
  supportsKind(kind: NoteableKind): boolean;
  /** Prepares the quick actions before the transaction, when other projects may be looked up. */
  plan(asking: ActionContext, commands: readonly Command[]): ExecuteActions | Promise<ExecuteActions>;
}

/** Executes each command as a separate step in a savepoint. A step's error becomes the reason of its outcome. */
export async function executeCommandsInSavepoints(
  tx: Tx,
  commands: readonly Command[],
  step: (command: Command, index: number) => Promise<ActionResult>,
): Promise<ActionResult[]> {
  const outcomes: ActionResult[] = [];
  for (const [index, command] of commands.entries()) {
    outcomes.push(
      await tryStep<ActionResult>(
        tx,
        () => step(command, index),
        (refusal) => refusal,
      ),
    );
  }
  return outcomes;
}

/**
 * Runs a step in a savepoint, or returns the result of `otherwise` if it is refused. Errors: those that abort the
 * request, such as TooManyRequests.
 */
export async function tryStep<T>(
  tx: Tx,
  step: () => Promise<T>,
  otherwise: (refusal: { readonly why: string }) => T,
): Promise<T> {
  try {
    return await tx.attempt(step);
  } catch (error) {
    return otherwise({ why: describeQuickActionRefusal(error) });
  }
}

/**
 * Returns the reason why a step was refused, without names of users or noteables. Errors: rethrows an error that is not
 * a refusal.
 */
export function describeQuickActionRefusal(error: unknown): string {
  if (error instanceof NotModified) return 'it is so already';
  if (error instanceof Forbidden || error instanceof Unauthorized) return 'you are not allowed to';
  if (error instanceof NotFound) return 'it was not found';
  if (error instanceof Invalid) return Object.values(error.fields).flat().join(', ');
  if (error instanceof Unprocessable && Array.isArray(error.detail)) return error.detail.join(', ');
  if (error instanceof Refused || error instanceof Conflict || error instanceof Unprocessable) return error.message;
  throw error;
}
