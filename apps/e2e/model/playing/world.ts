import type { Decision, Finding } from '../checking/checker';
import { History } from '../checking/history';
import type { Forest, Project } from '../rules/forest';
import { NO_FOREST } from '../rules/forest';
import type { PersonState, Standing } from '../rules/people';
import { newcomer } from '../rules/people';
import type { Question } from '../rules/reference-model';
import type { SeededRandom } from './seeded-random';

export interface Person {
  readonly id: number;
  readonly name: string;
  readonly history: History<PersonState>;
  /** Tokens by the name that the model gives them. */
  readonly secrets: Map<string, { readonly id: number; readonly secret: string }>;
  /** Whoever changes a person takes him first, so that he has one writer at a time. */
  isTaken: boolean;
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
  /** All groups and projects: invitations and moves tie their trees together, so they have one history. */
  readonly forest = new History<Forest>(NO_FOREST);
  /** Projects with an issue number 1. */
  readonly withIssue = new Set<number>();
  private names = 0;
  private forestIsFree: Promise<unknown> = Promise.resolve();

  constructor(readonly mark: string) {}

  name(kind: string): string {
    this.names += 1;
    return `${kind}${this.names}-${this.mark}`;
  }

  addPerson(id: number, name: string, external: boolean): Person {
    const history = new History(newcomer(external));
    const person: Person = { id, name, history, secrets: new Map(), isTaken: false };
    this.people.push(person);
    return person;
  }

  get state(): Forest {
    return this.forest.latest;
  }

  get active(): Person[] {
    return this.people.filter(({ history }) => history.latest.standing === 'active');
  }

  /** The tops of the trees. */
  get roots(): number[] {
    return [...this.state.groups.values()].filter(({ parent }) => parent === null).map(({ id }) => id);
  }

  /** One writer of the forest after the other; also for changes of people whose outcome depends on its shape. */
  inForest<T>(change: () => Promise<T>): Promise<T> {
    const done = this.forestIsFree.then(change);
    this.forestIsFree = done.catch(() => undefined);
    return done;
  }

  /** Somebody to ask with, mostly one who may come in. */
  someone(random: SeededRandom): Person | undefined {
    return random.pick(random.percent(93) ? this.active : this.people);
  }

  /** Mostly a good token; now and then one that is dead. */
  token(random: SeededRandom, person: Person): string | undefined {
    const tokens = [...person.history.latest.tokens];
    const good = tokens.filter(([, token]) => token.is === 'good');
    return random.pick(good.length > 0 && random.percent(88) ? good : tokens)?.[0];
  }

  /** Mostly a project that stands; now and then one that is gone. */
  project(random: SeededRandom): Project | undefined {
    const { forest } = this;
    const earlier = forest.at(random.percent(93) ? forest.length - 1 : random.below(forest.length));
    return random.pick([...earlier.state.projects.values()]);
  }

  /** Takes somebody whom nobody changes just now. Shape: `standing` when he shall be so. */
  take(random: SeededRandom, standing: readonly Standing[] = ['active']): Person | undefined {
    const free = this.people.filter(({ isTaken, history }) => !isTaken && standing.includes(history.latest.standing));
    const taken = random.pick(free);
    if (taken) taken.isTaken = true;
    return taken;
  }
}
