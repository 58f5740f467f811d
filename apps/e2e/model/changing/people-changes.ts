import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway, Person } from '../playing/world';
import type { PeopleById } from '../rules/responsible-users';
import { botsAfterExternalChange, holdersAfterGiverChange } from '../rules/responsible-users';
import type { PersonState, AccountState } from '../rules/people';
import { removedPerson, newPerson } from '../rules/people';
import { ROOT_QUESTION } from './changes';
import type { Change, Changes } from './changes';

interface Step {
  readonly verb: string;
  readonly from: AccountState;
  readonly to: AccountState;
}
/**
 * Steps that close and open accounts. Each changes the state.
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
/** Accounts that were used within 90 days cannot be deactivated, so this is for new ones. */
const DEACTIVATION: Step = { verb: 'deactivate', from: 'active', to: 'deactivated' };

/**
 * Creates, closes, opens and removes accounts, and changes their flags. People who depend on the account are locked
 * with it: those for whom it created tokens, and for `setExternal` its bots.
 */
export class PeopleChanges {
  constructor(private readonly changes: Changes) {}

  async create(random: SeededRandom, gateway: Gateway): Promise<Person | null> {
    const { world, caller } = this.changes;
    const username = world.name('person');
    const external = random.percent(15);
    const json = { username, name: username, email: addressOf(username), external, force_random_password: true };
    const plan = { method: 'POST', path: '/users', json, question: ROOT_QUESTION };
    const call = await caller.ask({ asker: 'root', gateway, ...plan });
    return call.status === 201 ? world.addPerson(call.body.id, username, newPerson(external)) : null;
  }

  close(random: SeededRandom, gateway: Gateway, person: Person): Promise<void> {
    return this.step(gateway, person, random.pick(CLOSINGS)!);
  }

  open(gateway: Gateway, person: Person): Promise<void> {
    const { account } = person.history.latest;
    return this.step(
      gateway,
      person,
      OPENINGS.find(({ from }) => from === account)!,
    );
  }

  /** Deactivates an account without tokens. */
  deactivate(gateway: Gateway, person: Person): Promise<void> {
    return this.step(gateway, person, DEACTIVATION);
  }

  /** Tries to open a closed account with an impersonation token that its owner created as an administrator. */
  openAsImpersonator(gateway: Gateway, person: Person, by: Asker): Promise<void> {
    const { account } = person.history.latest;
    return this.step(
      gateway,
      person,
      OPENINGS.find(({ from }) => from === account)!,
      by,
    );
  }

  /** Changes the external flag. Bots follow, unless another responsible user keeps them external. */
  async setExternal(gateway: Gateway, person: Person, external: boolean): Promise<void> {
    await this.put(gateway, person, {
      kind: external ? 'made external' : 'made internal',
      json: { external },
      state: { ...person.history.latest, external },
      alsoChanged: botsAfterExternalChange,
    });
  }

  async setAdmin(gateway: Gateway, person: Person, admin: boolean): Promise<void> {
    await this.put(gateway, person, {
      kind: admin ? 'made administrators' : 'demoted',
      json: { admin },
      state: { ...person.history.latest, admin },
      alsoChanged: holdersAfterGiverChange,
    });
  }

  async remove(gateway: Gateway, person: Person): Promise<void> {
    const request = { method: 'DELETE', path: `/users/${person.id}` };
    await this.changes.make({
      ...this.about(person, gateway, holdersAfterGiverChange),
      kind: 'people removed',
      about: `${person.name} is removed`,
      ...request,
      retry: request,
      nextState: ({ status }, isRepeated) =>
        status === 204 || (isRepeated && status === 404) ? removedPerson(person.history.latest) : null,
    });
  }

  private async put(
    gateway: Gateway,
    person: Person,
    how: { kind: string; json: object; state: PersonState; alsoChanged: (all: PeopleById, id: number) => PeopleById },
  ): Promise<void> {
    const request = { method: 'PUT', path: `/users/${person.id}`, json: how.json };
    await this.changes.make({
      ...this.about(person, gateway, how.alsoChanged),
      kind: how.kind,
      about: `${person.name}: ${JSON.stringify(how.json)}`,
      ...request,
      retry: request,
      nextState: ({ status }) => (status === 200 ? how.state : null),
    });
  }

  private async step(gateway: Gateway, person: Person, { verb, to }: Step, by: Asker = 'root'): Promise<void> {
    const request = { method: 'POST', path: `/users/${person.id}/${verb}` };
    await this.changes.make({
      ...this.about(person, gateway, holdersAfterGiverChange),
      kind: to === 'active' ? 'let in again' : 'shut out',
      about: `${person.name}: ${verb}`,
      asker: by,
      ...request,
      retry: request,
      // On a retry, the API reports in several ways that the account is in that state already.
      nextState: ({ status, body }, isRepeated) =>
        (status === 201 && body === true) || isRepeated ? { ...person.history.latest, account: to } : null,
    });
  }

  private about(
    person: Person,
    gateway: Gateway,
    alsoChanged: (all: PeopleById, id: number) => PeopleById,
  ): Pick<Change<PersonState>, 'history' | 'gateway' | 'asker' | 'question' | 'alsoChanged'> {
    return {
      history: person.history,
      asker: 'root',
      gateway,
      question: { ...ROOT_QUESTION, needsAdmin: true },
      alsoChanged: (state) => alsoChanged(new Map(this.changes.world.peopleById).set(person.id, state), person.id),
    };
  }
}

/** Returns the e-mail address of a user. */
export function addressOf(username: string): string {
  return `${username}@mail.example`;
}
