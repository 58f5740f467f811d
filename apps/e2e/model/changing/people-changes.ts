import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway, Person } from '../playing/world';
import type { Everybody } from '../rules/answering';
import { followersOf, givenOutBy } from '../rules/answering';
import type { PersonState, Standing } from '../rules/people';
import { departed, newcomer } from '../rules/people';
import { ALONE } from './changes';
import type { Change, Changes } from './changes';

interface Step {
  readonly verb: string;
  readonly from: Standing;
  readonly to: Standing;
}
/**
 * How accounts are closed and opened. Shape: only what changes something.
 * Source: reference identity-and-import 10.6.
 */
const CLOSINGS: readonly Step[] = [
  { verb: 'block', from: 'active', to: 'blocked' },
  { verb: 'ban', from: 'active', to: 'banned' },
];
const OPENINGS: readonly Step[] = [
  { verb: 'unblock', from: 'blocked', to: 'active' },
  { verb: 'unban', from: 'banned', to: 'active' },
  { verb: 'activate', from: 'deactivated', to: 'active' },
];
/** Accounts that were used within 90 days are not deactivated, so this is for those who have just come. */
const DEACTIVATION: Step = { verb: 'deactivate', from: 'active', to: 'deactivated' };

/**
 * People come, are shut out and come back, become something else, and go. Shape: whoever acts by their leave is taken
 * with them: those for whom they gave out tokens, and for `setExternal` their bots.
 */
export class PeopleChanges {
  constructor(private readonly changes: Changes) {}

  async create(random: SeededRandom, gateway: Gateway): Promise<Person | null> {
    const { world, caller } = this.changes;
    const username = world.name('person');
    const external = random.percent(15);
    const json = { username, name: username, email: addressOf(username), external, force_random_password: true };
    const plan = { method: 'POST', path: '/users', json, question: ALONE };
    const call = await caller.ask({ asker: 'root', gateway, ...plan });
    return call.status === 201 ? world.addPerson(call.body.id, username, newcomer(external)) : null;
  }

  close(random: SeededRandom, gateway: Gateway, person: Person): Promise<void> {
    return this.step(gateway, person, random.pick(CLOSINGS)!);
  }

  open(gateway: Gateway, person: Person): Promise<void> {
    const { standing } = person.history.latest;
    return this.step(
      gateway,
      person,
      OPENINGS.find(({ from }) => from === standing)!,
    );
  }

  /** Shape: somebody without a token as yet. */
  deactivate(gateway: Gateway, person: Person): Promise<void> {
    return this.step(gateway, person, DEACTIVATION);
  }

  /** Somebody who was shut out tries to open their own account, in the name of an administrator. */
  escape(gateway: Gateway, person: Person, by: Asker): Promise<void> {
    const { standing } = person.history.latest;
    return this.step(
      gateway,
      person,
      OPENINGS.find(({ from }) => from === standing)!,
      by,
    );
  }

  /** Their bots become external with them, and are it no more, but those whom somebody else binds. */
  async setExternal(gateway: Gateway, person: Person, external: boolean): Promise<void> {
    await this.put(gateway, person, {
      kind: external ? 'made external' : 'made internal',
      json: { external },
      state: { ...person.history.latest, external },
      besides: followersOf,
    });
  }

  async setAdmin(gateway: Gateway, person: Person, admin: boolean): Promise<void> {
    await this.put(gateway, person, {
      kind: admin ? 'made administrators' : 'demoted',
      json: { admin },
      state: { ...person.history.latest, admin },
      besides: givenOutBy,
    });
  }

  async remove(gateway: Gateway, person: Person): Promise<void> {
    const request = { method: 'DELETE', path: `/users/${person.id}` };
    await this.changes.make({
      ...this.about(person, gateway, givenOutBy),
      kind: 'people removed',
      about: `${person.name} is removed`,
      ...request,
      again: request,
      becomes: ({ status }, isRepeated) =>
        status === 204 || (isRepeated && status === 404) ? departed(person.history.latest) : null,
    });
  }

  private async put(
    gateway: Gateway,
    person: Person,
    how: { kind: string; json: object; state: PersonState; besides: (all: Everybody, id: number) => Everybody },
  ): Promise<void> {
    const request = { method: 'PUT', path: `/users/${person.id}`, json: how.json };
    await this.changes.make({
      ...this.about(person, gateway, how.besides),
      kind: how.kind,
      about: `${person.name}: ${JSON.stringify(how.json)}`,
      ...request,
      again: request,
      becomes: ({ status }) => (status === 200 ? how.state : null),
    });
  }

  private async step(gateway: Gateway, person: Person, { verb, to }: Step, by: Asker = 'root'): Promise<void> {
    const request = { method: 'POST', path: `/users/${person.id}/${verb}` };
    await this.changes.make({
      ...this.about(person, gateway, givenOutBy),
      kind: to === 'active' ? 'let in again' : 'shut out',
      about: `${person.name}: ${verb}`,
      asker: by,
      ...request,
      again: request,
      // Asked again, the API says in several ways that it is so already.
      becomes: ({ status, body }, isRepeated) =>
        (status === 201 && body === true) || isRepeated ? { ...person.history.latest, standing: to } : null,
    });
  }

  private about(
    person: Person,
    gateway: Gateway,
    besides: (all: Everybody, id: number) => Everybody,
  ): Pick<Change<PersonState>, 'history' | 'gateway' | 'asker' | 'question' | 'besides'> {
    return {
      history: person.history,
      asker: 'root',
      gateway,
      question: { ...ALONE, administers: true },
      besides: (state) => besides(new Map(this.changes.world.everybody).set(person.id, state), person.id),
    };
  }
}

/** Where e-mails to somebody go. */
export function addressOf(username: string): string {
  return `${username}@mail.example`;
}
