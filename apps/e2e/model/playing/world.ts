import type { Decision, Finding } from '../checking/checker';
import { History } from '../checking/history';
import type { Forest, Project, SourceKey, Thing } from '../rules/forest';
import { isWithin, keyOfThing, NO_FOREST } from '../rules/forest';
import type { Everybody } from '../rules/answering';
import { everAnswering } from '../rules/answering';
import type { PersonState } from '../rules/people';
import { newcomer } from '../rules/people';
import type { Secrecy, SecretKind } from '../rules/secrets';
import type { Question } from '../rules/reference-model';
import type { SeededRandom } from './seeded-random';

export interface Person {
  readonly id: number;
  readonly name: string;
  readonly history: History<PersonState>;
  /** Tokens by the name that the model gives them. */
  readonly secrets: Map<string, { readonly id: number; readonly secret: string }>;
  /** Only of bots: the group or project that they belong to, and the level that the bot of a token has there. */
  readonly home: { readonly key: SourceKey; readonly level: number | null } | null;
  /** Whoever changes a person takes them first, so that they have one writer at a time. */
  isTaken: boolean;
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
  /** Whoever changes it takes it first. */
  isTaken: boolean;
}

/** A call to be made. */
export interface Plan {
  readonly asker: Asker;
  readonly method: string;
  readonly path: string;
  readonly json?: object;
  readonly gateway: Gateway;
  readonly question: Question;
  /** What the question is about, when that is an issue or epic that may be confidential. */
  readonly secret?: Secret | undefined;
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
  /** What `X-Total` says. */
  readonly total?: number | undefined;
}
export interface Verdicted {
  readonly call: Call;
  readonly decision: Decision;
  readonly finding: Finding;
}

/** Something that was written, and may be told to people. Shape: `call` also where nobody knows what came of it. */
export interface Note {
  readonly call: Call;
  readonly project: number;
  readonly internal: boolean;
}

/** Id of the administrator that the estate begins with. */
export const ROOT_USER = 1;

/** Who and what there is, as the driver has made it. */
export class World {
  /** Bots among them. */
  readonly people: Person[] = [];
  /** As whom administrators may act, and nobody changes. */
  readonly root: Person;
  /** By the word that stands in them. */
  readonly notes = new Map<string, Note>();
  /** All groups and projects: invitations and moves tie their trees together, so they have one history. */
  readonly forest = new History<Forest>(NO_FOREST);
  /** All projects that there ever were, but those whose making had no answer. */
  readonly projects = new Set<number>();
  /** Projects with an issue number 1. */
  readonly withIssue = new Set<number>();
  /** Also those that are gone. */
  readonly secrets: Secret[] = [];
  private names = 0;
  private forestIsFree: Promise<unknown> = Promise.resolve();

  constructor(readonly mark: string) {
    this.root = { id: ROOT_USER, name: 'root', history: new History(newcomer(false, { admin: true })), ...fresh() };
  }

  name(kind: string): string {
    this.names += 1;
    return `${kind}${this.names}-${this.mark}`;
  }

  addPerson(id: number, name: string, state: PersonState, home: Person['home'] = null): Person {
    const person: Person = { id, name, history: new History(state), ...fresh(), home };
    this.people.push(person);
    return person;
  }

  /** What may have become of them is not known, so the model does without them, and without the bots that follow them. */
  forget(person: Person): void {
    const lost = new Set<Person>([person, ...this.botsOf(person)]);
    for (const one of lost) one.isTaken = true;
    this.people.splice(0, this.people.length, ...this.people.filter((one) => !lost.has(one)));
  }

  get state(): Forest {
    return this.forest.latest;
  }

  get active(): Person[] {
    return this.people.filter(({ history }) => history.latest.standing === 'active');
  }

  get humans(): Person[] {
    return this.people.filter(({ history }) => history.latest.kind === 'human' && history.latest.standing !== 'gone');
  }

  /** Those that still do something. */
  get bots(): Person[] {
    return this.people.filter(({ history }) => history.latest.kind === 'bot' && history.latest.standing !== 'gone');
  }

  get everybody(): Everybody {
    return new Map([this.root, ...this.people].map(({ id, history }) => [id, history.latest]));
  }

  person(id: number): Person | undefined {
    return id === ROOT_USER ? this.root : this.people.find((one) => one.id === id);
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

  /** Takes somebody whom nobody changes just now. Shape: who they may be. */
  take(random: SeededRandom, may: (state: PersonState, person: Person) => boolean = isActive): Person | undefined {
    const free = this.people.filter((person) => !person.isTaken && may(person.history.latest, person));
    const taken = random.pick(free);
    if (taken) taken.isTaken = true;
    return taken;
  }

  /** Does something with all of these taken; without that when somebody changes one of them just now. */
  async taking(people: readonly Person[], change: () => Promise<void>): Promise<void> {
    if (people.some((person) => person.isTaken)) return;
    for (const person of people) person.isTaken = true;
    try {
      await change();
    } finally {
      for (const person of people) person.isTaken = false;
    }
  }

  /** Bots that somebody ever answered for, and the bots of those. */
  botsOf(person: Person): Person[] {
    const found = new Set<Person>([person]);
    for (const one of found) {
      for (const bot of this.bots) if (everAnswering(bot.history.latest).has(one.id)) found.add(bot);
    }
    return [...found].filter((one) => one !== person);
  }

  /** Those for whom somebody gave out tokens as an administrator. */
  givenTokensBy(person: Person): Person[] {
    return [this.root, ...this.people].filter((other) =>
      [...other.history.latest.tokens.values()].some((token) => token.giver && token.issuer === person.id),
    );
  }

  /** Bots that go with a group or project. */
  botsIn(about: Thing): Person[] {
    return this.bots.filter(({ home }) => {
      if (home === null || about.kind === 'project') return home?.key === keyOfThing(about);
      return isWithin(this.state, home.key, about.thing.id);
    });
  }
}

function fresh(): Pick<Person, 'secrets' | 'home' | 'isTaken'> {
  return { secrets: new Map(), home: null, isTaken: false };
}

/** The bot of a token: it has that one and its successors, and stays where it is. */
export function isOfToken({ home }: Person): boolean {
  return home !== null && home.level !== null;
}

export function isActive({ standing }: PersonState): boolean {
  return standing === 'active';
}
