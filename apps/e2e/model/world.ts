import type { Decision, Finding } from './checker';
import { History } from './history';
import type { PersonState, Project, Question, TreeState } from './reference-model';
import { NO_TREE } from './reference-model';
import type { SeededRandom } from './seeded-random';

/** A thing with one writer at a time: whoever changes it takes it first. */
interface Owned {
  isTaken: boolean;
}
export interface Person extends Owned {
  readonly kind: 'person';
  readonly id: number;
  readonly name: string;
  readonly history: History<PersonState>;
  /** Tokens by the name that the model gives them. */
  readonly secrets: Map<string, { readonly id: number; readonly secret: string }>;
}
export interface Tree extends Owned {
  readonly kind: 'tree';
  readonly name: string;
  readonly root: number;
  readonly history: History<TreeState>;
}

export type Asker = 'root' | 'anonymous' | { readonly person: Person; readonly token: string };

/** A call to be made. */
export interface Plan {
  readonly asker: Asker;
  readonly method: string;
  readonly path: string;
  readonly json?: object;
  readonly gateway: Gateway;
  readonly question: Question;
  readonly tree: Tree | null;
}
export interface Gateway {
  readonly name: string;
  readonly baseUrl: string;
}

/** A call that was made. Shape: status 0 when the connection was cut. */
export interface Call {
  readonly number: number;
  readonly plan: Plan;
  readonly start: number;
  readonly end: number;
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are looked into as a client would
  readonly body: any;
}
export interface Verdicted {
  readonly call: Call;
  readonly decision: Decision;
  readonly finding: Finding;
}

/** Who and what there is, as the driver has made it. */
export class World {
  readonly people: Person[] = [];
  readonly trees: Tree[] = [];
  /** Projects with an issue number 1. */
  readonly withIssue = new Set<number>();
  private names = 0;

  constructor(readonly mark: string) {}

  name(kind: string): string {
    this.names += 1;
    return `${kind}${this.names}-${this.mark}`;
  }

  addPerson(id: number, name: string, external: boolean): Person {
    const first = { blocked: false, external, tokens: new Map(), memberships: new Map() };
    const person: Person = {
      kind: 'person',
      id,
      name,
      history: new History<PersonState>(first),
      secrets: new Map(),
      isTaken: false,
    };
    this.people.push(person);
    return person;
  }

  addTree(root: number, name: string): Tree {
    const tree: Tree = { kind: 'tree', name, root, history: new History(NO_TREE), isTaken: false };
    this.trees.push(tree);
    return tree;
  }

  get active(): Person[] {
    return this.people.filter((person) => !person.history.latest.blocked);
  }

  get standing(): Tree[] {
    return this.trees.filter((tree) => tree.history.latest.groups.has(tree.root));
  }

  /** Somebody to ask with, mostly one who is not blocked. */
  someone(random: SeededRandom): Person | undefined {
    return random.pick(random.percent(93) ? this.active : this.people);
  }

  /** Mostly a good token; now and then one that is dead. */
  token(random: SeededRandom, person: Person): string | undefined {
    const tokens = [...person.history.latest.tokens];
    const alive = tokens.filter(([, token]) => token.alive);
    return random.pick(alive.length > 0 && random.percent(88) ? alive : tokens)?.[0];
  }

  /** Mostly a project that stands; now and then one that is gone. */
  project(random: SeededRandom, tree: Tree): Project | undefined {
    const { history } = tree;
    const earlier = history.at(random.percent(93) ? history.length - 1 : random.below(history.length));
    return random.pick([...earlier.state.projects.values()]);
  }

  /** Takes one of those that nobody changes just now. */
  take<T extends Owned>(random: SeededRandom, from: readonly T[]): T | undefined {
    const taken = random.pick(from.filter((one) => !one.isTaken));
    if (taken) taken.isTaken = true;
    return taken;
  }
}
