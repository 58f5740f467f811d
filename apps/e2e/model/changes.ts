import type { Caller } from './caller';
import { isUndecided } from './caller';
import type { History } from './history';
import type { Asker, Call, Gateway, Plan, Tree, World } from './world';

/**
 * One change of one thing, whose answer says what became of it. Shape: `again` repeats it as root when no answer came;
 * null when it must not be repeated (what it may have made is then nobody's, and the model does without). `becomes`
 * is the state that follows from the answer, null for none.
 */
export interface Change<S> {
  readonly history: History<S>;
  readonly about: string;
  readonly asker: Asker;
  readonly gateway: Gateway;
  readonly method: string;
  readonly path: string;
  readonly json?: object;
  readonly question: Plan['question'];
  readonly tree: Tree | null;
  readonly again: (Pick<Plan, 'method' | 'path'> & { json?: object }) | null;
  readonly becomes: (answer: Call, isRepeated: boolean) => S | null;
}

/** Makes changes and writes them into the histories. */
export class Changes {
  made = 0;

  constructor(
    readonly world: World,
    readonly caller: Caller,
  ) {}

  /** Shape: the definite answer; null when there is none and never will be. */
  async make<S>(change: Change<S>): Promise<Call | null> {
    const { asker, gateway, method, path, question, tree } = change;
    const json = change.json === undefined ? {} : { json: change.json };
    const plan: Plan = { asker, gateway, method, path, question, tree, ...json };
    const first = await this.caller.ask(plan);
    const isRepeated = isUndecided(first.status);
    if (isRepeated && change.again === null) return null;
    const answer = isRepeated ? await this.caller.settle(plan, first, change.again!) : first;
    const state = change.becomes(answer, isRepeated);
    if (state === null) return answer;
    this.made += 1;
    const { start, end } = answer;
    change.history.push({ start, end, state, gateway: gateway.name, about: `#${answer.number} ${change.about}` });
    return answer;
  }
}
