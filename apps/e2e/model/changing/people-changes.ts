import type { SeededRandom } from '../playing/seeded-random';
import type { Gateway, Person } from '../playing/world';
import type { Standing } from '../rules/people';
import { ALONE } from './changes';
import type { Changes } from './changes';

interface Step {
  readonly verb: string;
  readonly from: Standing;
  readonly to: Standing;
}
/** How accounts are closed and opened. Shape: only what changes something. Source: ADR 0135. */
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

/** People come, are shut out and come back. */
export class PeopleChanges {
  constructor(private readonly changes: Changes) {}

  async create(random: SeededRandom, gateway: Gateway): Promise<Person | null> {
    const { world, caller } = this.changes;
    const username = world.name('person');
    const external = random.percent(15);
    const json = { username, name: username, email: `${username}@mail.example`, external, force_random_password: true };
    const plan = { method: 'POST', path: '/users', json, question: ALONE };
    const call = await caller.ask({ asker: 'root', gateway, ...plan });
    return call.status === 201 ? world.addPerson(call.body.id, username, external) : null;
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

  private async step(gateway: Gateway, person: Person, { verb, to }: Step): Promise<void> {
    const request = { method: 'POST', path: `/users/${person.id}/${verb}` };
    await this.changes.make({
      history: person.history,
      kind: to === 'active' ? 'let in again' : 'shut out',
      about: `${person.name}: ${verb}`,
      asker: 'root',
      gateway,
      question: ALONE,
      ...request,
      again: request,
      // Asked again, the API says in several ways that it is so already.
      becomes: ({ status, body }, isRepeated) =>
        (status === 201 && body === true) || isRepeated ? { ...person.history.latest, standing: to } : null,
    });
  }
}
