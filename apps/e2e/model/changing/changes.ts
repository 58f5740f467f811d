import { setTimeout as pause } from 'node:timers/promises';
import type { History } from '../checking/history';
import type { Caller } from '../playing/caller';
import { isUndecided } from '../playing/caller';
import type { Asker, Call, Gateway, Plan, World } from '../playing/world';
import type { PeopleById } from '../rules/responsible-users';
import type { Forest, SourceKey } from '../rules/forest';
import { sourceOf } from '../rules/forest';
import type { Question } from '../rules/reference-model';

/** The question of a call that root may always make. */
export const ROOT_QUESTION: Question = { service: 'identity', source: null, needs: 0, writes: true };

/**
 * One change of one history, whose answer decides the next state. `retry` repeats it as root if no answer came. It is
 * null if the change must not be repeated; a row that it may have created is then unknown to the model. `nextState`
 * returns the state that follows from the answer, or null for no change. `alsoChanged` returns people whose state
 * changes with it, all of them locked.
 */
export interface Change<S> extends Plan {
  readonly history: History<S>;
  /** Name of the change in the figures. */
  readonly kind: string;
  readonly about: string;
  readonly retry: (Pick<Plan, 'method' | 'path'> & { json?: object }) | null;
  readonly nextState: (answer: Call, isRepeated: boolean) => S | null;
  readonly alsoChanged?: (state: S) => PeopleById;
}

/** Longer than a killed process takes to serve again on a busy machine. */
const ANSWERED_WITHIN_MS = 60_000;

/** Makes changes and writes them into the histories. */
export class Changes {
  readonly made = new Map<string, number>();

  constructor(
    readonly world: World,
    readonly caller: Caller,
  ) {}

  /** Makes a change. Returns the definite answer, or null if there is none and the change cannot be repeated. */
  async make<S>({ history, kind, about, retry, nextState, alsoChanged, ...plan }: Change<S>): Promise<Call | null> {
    const first = await this.caller.ask(plan);
    const isRepeated = isUndecided(first.status);
    if (isRepeated && retry === null) return null;
    const answer = isRepeated ? await this.caller.resolveOutcome(plan, first, retry!) : first;
    const state = nextState(answer, isRepeated);
    if (state === null) return answer;
    this.made.set(kind, (this.made.get(kind) ?? 0) + 1);
    const { start, end } = answer;
    const entry = { start, end, gateway: plan.gateway.name, about: `#${answer.number} ${about}` };
    const others = [...(alsoChanged?.(state) ?? [])];
    history.push({ ...entry, state });
    for (const [id, other] of others) this.world.person(id)!.history.push({ ...entry, state: other });
    return answer;
  }

  /** Makes a change of the forest, which the caller holds. */
  makeInForest(gateway: Gateway, change: Omit<Change<Forest>, 'history' | 'gateway'>): Promise<Call | null> {
    return this.make({ history: this.world.forest, gateway, ...change });
  }

  /** Repeats a call of root until there is an answer. The call must not change permissions. */
  async retryUntilAnswered(
    gateway: Gateway,
    plan: Pick<Plan, 'method' | 'path'> & { json?: object; question?: Question },
  ): Promise<Call> {
    for (const from = performance.now(); performance.now() - from < ANSWERED_WITHIN_MS;) {
      const call = await this.caller.ask({ asker: 'root', gateway, question: ROOT_QUESTION, ...plan });
      if (!isUndecided(call.status)) return call;
      await pause(100);
    }
    throw new Error(`${plan.method} ${plan.path} has no answer`);
  }
}

/** Returns the question of an identity call that changes a source. */
export function changeQuestion(key: SourceKey, needs: number, more: Partial<Question> = {}): Question {
  return { ...ROOT_QUESTION, source: sourceOf(key), needs, ...more };
}

/** Reports whether the caller is the person. */
export function isSelf(asker: Asker, person: unknown): boolean {
  return typeof asker !== 'string' && asker.person === person;
}

export const dayFromNow = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
