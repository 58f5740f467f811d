import type { Decision, Finding } from '../checking/checker';
import { History } from '../checking/history';
import type { Forest, Project, SourceKey, Source } from '../rules/forest';
import { isWithin, keyOfSource, NO_FOREST } from '../rules/forest';
import type { PeopleById } from '../rules/responsible-users';
import { everResponsibleUsers } from '../rules/responsible-users';
import type { PersonState } from '../rules/people';
import { newPerson } from '../rules/people';
import type { Secrecy, SecretKind } from '../rules/secrets';
import type { Question } from '../rules/reference-model';
import type { SeededRandom } from './seeded-random';

export interface Person {
  readonly id: number;
  readonly name: string;
  readonly history: History<PersonState>;
  /** Tokens by the name that the model gives them. */
  readonly secrets: Map<string, { readonly id: number; readonly secret: string }>;
  /** Only for bots: the group or project that they belong to, and the level that a token's bot has there. */
  readonly home: { readonly key: SourceKey; readonly level: number | null } | null;
  /** Whether a driver is changing this person; each person has one writer at a time. */
  isLocked: boolean;
}

export type Asker = 'root' | 'anonymous' | { readonly person: Person; readonly token: string };

/** An issue or epic that may be confidential, with an internal note. */
export interface Secret {
  readonly kind: SecretKind;
  /** The project or group that has it. */
  readonly home: { readonly kind: 'group' | 'project'; readonly id: number };
  readonly id: number;
  readonly iid: number;
  /** Id of its internal note; null while there is none. */
  note: number | null;
  readonly history: History<Secrecy>;
  /** Whether a driver is changing this secret. */
  isLocked: boolean;
}

/** A merge request of a model project. `word` is its title, `sha` its only commit. */
export interface OpenedRequest {
  /** Id of the target project. */
  readonly project: number;
  readonly iid: number;
  readonly word: string;
  readonly sha: string;
}

/** A call to be made. */
export interface Plan {
  readonly asker: Asker;
  readonly method: string;
  readonly path: string;
  readonly json?: object;
  readonly gateway: Gateway;
  readonly question: Question;
  /** The issue or epic that the question is about, if it may be confidential. */
  readonly secret?: Secret | undefined;
}
export interface Gateway {
  readonly name: string;
  readonly baseUrl: string;
}

/** A completed call. `status` is 0 if the connection was cut. */
export interface Call {
  readonly number: number;
  readonly plan: Plan;
  readonly start: number;
  readonly end: number;
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are read as a client would
  readonly body: any;
  /** Value of `X-Total`. */
  readonly total?: number | undefined;
}
export interface CheckedDecision {
  readonly call: Call;
  readonly decision: Decision;
  readonly finding: Finding;
}

/** A note that people may be notified of. `call` may lack a definite answer. */
export interface Note {
  readonly call: Call;
  readonly project: number;
  readonly internal: boolean;
}

/** Id of the estate's initial administrator. */
export const ROOT_USER = 1;

/** All people, groups, projects, secrets and notes that the drivers have created, with their histories. */
export class World {
  /** Bots included. */
  readonly people: Person[] = [];
  /** The initial administrator: others may impersonate it, and no driver changes it. */
  readonly root: Person;
  /** Notes by the unique word in their body. */
  readonly notes = new Map<string, Note>();
  /** All groups and projects: invitations and moves connect their trees, so they have one history. */
  readonly forest = new History<Forest>(NO_FOREST);
  /** Ids of all projects ever created, except those whose creation had no answer. */
  readonly projects = new Set<number>();
  /** Projects with an issue number 1. */
  readonly withIssue = new Set<number>();
  /** Those of deleted projects included. */
  readonly requests: OpenedRequest[] = [];
  /** Commits on branches of forks that have no merge request. `fork` and `source` are ids of projects. */
  readonly forkCommits: { readonly fork: number; readonly source: number; readonly sha: string }[] = [];
  /** Deleted ones included. */
  readonly secrets: Secret[] = [];
  private names = 0;
  private forestIsFree: Promise<unknown> = Promise.resolve();

  constructor(readonly mark: string) {
    this.root = {
      id: ROOT_USER,
      name: 'root',
      history: new History(newPerson(false, { admin: true })),
      ...emptyFields(),
    };
  }

  name(kind: string): string {
    this.names += 1;
    return `${kind}${this.names}-${this.mark}`;
  }

  addPerson(id: number, name: string, state: PersonState, home: Person['home'] = null): Person {
    const person: Person = { id, name, history: new History(state), ...emptyFields(), home };
    this.people.push(person);
    return person;
  }

  /** Drops a person whose state is unknown, and the bots that depend on them, from the model. */
  forget(person: Person): void {
    const lost = new Set<Person>([person, ...this.botsOf(person)]);
    for (const one of lost) one.isLocked = true;
    this.people.splice(0, this.people.length, ...this.people.filter((one) => !lost.has(one)));
  }

  get state(): Forest {
    return this.forest.latest;
  }

  get active(): Person[] {
    return this.people.filter(({ history }) => history.latest.account === 'active');
  }

  get humans(): Person[] {
    return this.people.filter(({ history }) => history.latest.kind === 'human' && history.latest.account !== 'removed');
  }

  /** Bots that were not deleted. */
  get bots(): Person[] {
    return this.people.filter(({ history }) => history.latest.kind === 'bot' && history.latest.account !== 'removed');
  }

  get peopleById(): PeopleById {
    return new Map([this.root, ...this.people].map(({ id, history }) => [id, history.latest]));
  }

  person(id: number): Person | undefined {
    return id === ROOT_USER ? this.root : this.people.find((one) => one.id === id);
  }

  /** Ids of the top-level groups. */
  get roots(): number[] {
    return [...this.state.groups.values()].filter(({ parent }) => parent === null).map(({ id }) => id);
  }

  /** Runs changes of the forest one after the other, and changes of people whose outcome depends on the forest. */
  withForest<T>(change: () => Promise<T>): Promise<T> {
    const done = this.forestIsFree.then(change);
    this.forestIsFree = done.catch(() => undefined);
    return done;
  }

  /** Picks a person, mostly an active one. */
  randomPerson(random: SeededRandom): Person | undefined {
    return random.pick(random.percent(93) ? this.active : this.people);
  }

  /** Picks a token, mostly a good one. */
  token(random: SeededRandom, person: Person): string | undefined {
    const tokens = [...person.history.latest.tokens];
    const good = tokens.filter(([, token]) => token.status === 'good');
    return random.pick(good.length > 0 && random.percent(88) ? good : tokens)?.[0];
  }

  /** Picks a project, mostly an existing one, sometimes a deleted one. */
  project(random: SeededRandom): Project | undefined {
    const { forest } = this;
    const earlier = forest.at(random.percent(93) ? forest.length - 1 : random.below(forest.length));
    return random.pick([...earlier.state.projects.values()]);
  }

  /** Locks a random person that no driver is changing. `may` filters the candidates. */
  lockRandom(
    random: SeededRandom,
    may: (state: PersonState, person: Person) => boolean = isActive,
  ): Person | undefined {
    const free = this.people.filter((person) => !person.isLocked && may(person.history.latest, person));
    const locked = random.pick(free);
    if (locked) locked.isLocked = true;
    return locked;
  }

  /** Runs the change with all of these people locked; does nothing if one of them is being changed. */
  async withLocked(people: readonly Person[], change: () => Promise<void>): Promise<void> {
    if (people.some((person) => person.isLocked)) return;
    for (const person of people) person.isLocked = true;
    try {
      await change();
    } finally {
      for (const person of people) person.isLocked = false;
    }
  }

  /** Bots that the person was ever responsible for, and recursively the bots of those bots. */
  botsOf(person: Person): Person[] {
    const found = new Set<Person>([person]);
    for (const one of found) {
      for (const bot of this.bots) if (everResponsibleUsers(bot.history.latest).has(one.id)) found.add(bot);
    }
    return [...found].filter((one) => one !== person);
  }

  /** People for whom this person created tokens as an administrator. */
  holdersOfTokensBy(person: Person): Person[] {
    return [this.root, ...this.people].filter((other) =>
      [...other.history.latest.tokens.values()].some((token) => token.giver && token.issuer === person.id),
    );
  }

  /** Bots that are deleted with a group or project. */
  botsIn(about: Source): Person[] {
    return this.bots.filter(({ home }) => {
      if (home === null || about.kind === 'project') return home?.key === keyOfSource(about);
      return isWithin(this.state, home.key, about.entity.id);
    });
  }
}

function emptyFields(): Pick<Person, 'secrets' | 'home' | 'isLocked'> {
  return { secrets: new Map(), home: null, isLocked: false };
}

/** Reports whether this is the bot of a group or project token; it has only that token and its successors. */
export function isTokenBot({ home }: Person): boolean {
  return home !== null && home.level !== null;
}

export function isActive({ account }: PersonState): boolean {
  return account === 'active';
}
