import type { SeededRandom } from '../playing/seeded-random';
import type { Gateway, Person } from '../playing/world';
import type { Token } from '../rules/people';
import { withToken } from '../rules/people';
import { ROOT_QUESTION } from './changes';
import type { Changes } from './changes';

/** Creates impersonation tokens, and personal tokens of other users, as an administrator. Source: reference identity-and-import 4.7. */
export class ImpersonationChanges {
  constructor(private readonly changes: Changes) {}

  /**
   * Creates a token. The caller must have locked both people. `by` may lack the permission and uses a token of their
   * own.
   */
  async create(
    random: SeededRandom,
    gateway: Gateway,
    { person, by, token }: { person: Person; by: Person; token: string },
  ): Promise<void> {
    const key = this.changes.world.name('t');
    const scope = random.percent(10) ? 'read_api' : 'api';
    const impersonates = random.percent(70);
    await this.changes.make({
      history: person.history,
      asker: { person: by, token },
      gateway,
      kind: impersonates ? 'impersonations' : 'tokens given to others',
      about: `${by.name} ${impersonates ? 'may act as' : 'gives a token to'} ${person.name} by ${key} (${scope})`,
      question: { ...ROOT_QUESTION, needsAdmin: true },
      method: 'POST',
      path: `/users/${person.id}/${impersonates ? 'impersonation' : 'personal_access'}_tokens`,
      json: { name: key, scopes: [scope] },
      retry: null,
      nextState: ({ status, body }) => {
        if (status !== 201) return null;
        person.secrets.set(key, { id: body.id, secret: body.token });
        const given: Token = { scope, family: key, status: 'good', issuer: by.id, giver: 'active' };
        return withToken(person.history.latest, key, impersonates ? { ...given, impersonates } : given);
      },
    });
  }
}
