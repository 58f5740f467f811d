import { setTimeout as pause } from 'node:timers/promises';
import type { History } from '../checking/history';
import type { Caller } from '../playing/caller';
import { isUndecided } from '../playing/caller';
import type { Asker, Call, Gateway, Plan, World } from '../playing/world';
import type { Everybody } from '../rules/answering';
import type { Forest, SourceKey } from '../rules/forest';
import { sourceOf } from '../rules/forest';
import type { Question } from '../rules/reference-model';

/** What root may do in any case. */
export const ALONE: Question = { service: 'identity', source: null, needs: 0, writes: true };

/**
 * One change of one thing, whose answer says what became of it. Shape: `again` repeats it as root when no answer came;
 * null when it must not be repeated (what it may have made is then nobody's, and the model does without). `becomes`
 * is the state that follows from the answer, null for none; `besides` are those who change with it, all of them taken.
 */
export interface Change<S> extends Plan {
  readonly history: History<S>;
  /** What figures count it as. */
  readonly kind: string;
  readonly about: string;
  readonly again: (Pick<Plan, 'method' | 'path'> & { json?: object }) | null;
  readonly becomes: (answer: Call, isRepeated: boolean) => S | null;
  readonly besides?: (state: S) => Everybody;
}

/** Makes changes and writes them into the histories. */
export class Changes {
  readonly made = new Map<string, number>();

  constructor(
    readonly world: World,
    readonly caller: Caller,
  ) {}

  /** Shape: the definite answer; null when there is none and never will be. */
  async make<S>({ history, kind, about, again, becomes, besides, ...plan }: Change<S>): Promise<Call | null> {
    const first = await this.caller.ask(plan);
    const isRepeated = isUndecided(first.status);
    if (isRepeated && again === null) return null;
    const answer = isRepeated ? await this.caller.settle(plan, first, again!) : first;
    const state = becomes(answer, isRepeated);
    if (state === null) return answer;
    this.made.set(kind, (this.made.get(kind) ?? 0) + 1);
    const { start, end } = answer;
    const entry = { start, end, gateway: plan.gateway.name, about: `#${answer.number} ${about}` };
    const others = [...(besides?.(state) ?? [])];
    history.push({ ...entry, state });
    for (const [id, other] of others) this.world.person(id)!.history.push({ ...entry, state: other });
    return answer;
  }

  /** One change of the forest, which the caller holds. */
  ofForest(gateway: Gateway, change: Omit<Change<Forest>, 'history' | 'gateway'>): Promise<Call | null> {
    return this.make({ history: this.world.forest, gateway, ...change });
  }

  /** What root does besides, and from which nothing follows for anybody: again and again until there is an answer. */
  async insist(gateway: Gateway, plan: Pick<Plan, 'method' | 'path'> & { json?: object }): Promise<Call> {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const call = await this.caller.ask({ asker: 'root', gateway, question: ALONE, ...plan });
      if (!isUndecided(call.status)) return call;
      await pause(100);
    }
    throw new Error(`${plan.method} ${plan.path} has no answer`);
  }
}

/** A question of identity about a change of a source. */
export function changing(key: SourceKey, needs: number, more: Partial<Question> = {}): Question {
  return { ...ALONE, source: sourceOf(key), needs, ...more };
}

/** Is the asker the person? */
export function isSelf(asker: Asker, person: unknown): boolean {
  return typeof asker !== 'string' && asker.person === person;
}

export const dayFromNow = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
