import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway, Person } from '../playing/world';
import { isAccepted, successorOf, withoutFamily, withToken } from '../rules/people';
import { ROOT_QUESTION, dayFromNow } from './changes';
import type { Change, Changes } from './changes';
import type { PersonState } from '../rules/people';

/**
 * Creates, rotates and revokes tokens, and reuses revoked ones.
 * Source: reference identity-and-import 4.8.
 */
export class TokenChanges {
  constructor(private readonly changes: Changes) {}

  async create(random: SeededRandom, gateway: Gateway, person: Person): Promise<void> {
    const scope = random.percent(18) ? 'read_api' : 'api';
    const isExpired = random.percent(8);
    const key = `t${this.changes.world.name('')}`;
    const json = { name: key, scopes: [scope], ...(isExpired ? { expires_at: dayFromNow(0) } : {}) };
    await this.make('root', gateway, person, {
      kind: 'tokens made',
      about: `${person.name} gets the ${isExpired ? 'expired ' : ''}token ${key} (${scope})`,
      method: 'POST',
      path: `/users/${person.id}/personal_access_tokens`,
      json,
      retry: null,
      nextState: (answer) => {
        if (answer.status !== 201) return null;
        person.secrets.set(key, { id: answer.body.id, secret: answer.body.token });
        return withToken(person.history.latest, key, { scope, family: key, status: isExpired ? 'expired' : 'good' });
      },
    });
  }

  async revoke(random: SeededRandom, gateway: Gateway, person: Person, key: string): Promise<void> {
    const state = person.history.latest;
    const token = state.tokens.get(key)!;
    const byRoot = `/personal_access_tokens/${person.secrets.get(key)!.id}`;
    const isSelf = isAccepted(state, token) && random.percent(50);
    await this.make(isSelf ? { person, token: key } : 'root', gateway, person, {
      kind: 'tokens revoked',
      about: `${person.name} loses the token ${key}`,
      method: 'DELETE',
      path: isSelf ? '/personal_access_tokens/self' : byRoot,
      // Every token may revoke itself, whatever its scopes.
      question: { ...ROOT_QUESTION, writes: !isSelf },
      retry: { method: 'DELETE', path: byRoot },
      nextState: ({ status }) => (status === 204 ? withToken(state, key, { ...token, status: 'revoked' }) : null),
    });
  }

  /** Rotates a token that was not revoked. An expired one cannot rotate itself. */
  async rotate(random: SeededRandom, gateway: Gateway, person: Person, key: string): Promise<void> {
    const state = person.history.latest;
    const token = state.tokens.get(key)!;
    const byRoot = `/personal_access_tokens/${person.secrets.get(key)!.id}/rotate`;
    const isSelf = isAccepted(state, token) && random.percent(50);
    const next = `t${this.changes.world.name('')}`;
    await this.make(isSelf ? { person, token: key } : 'root', gateway, person, {
      kind: 'tokens rotated',
      about: `${person.name} has the token ${key} replaced by ${next}`,
      method: 'POST',
      path: isSelf ? '/personal_access_tokens/self/rotate' : byRoot,
      retry: { method: 'POST', path: byRoot },
      nextState: ({ status, body }, isRepeated) => {
        // The attempt without an answer rotated it; the retry was a reuse and revoked the family.
        if (status === 400) return withoutFamily(state, token.family);
        if (status !== 200) return null;
        person.secrets.set(next, { id: body.id, secret: body.token });
        const successor = successorOf(token, isSelf && !isRepeated ? 'itself' : 'root');
        return withToken(withToken(state, key, { ...token, status: 'revoked' }), next, successor);
      },
    });
  }

  /** Rotates a revoked token, as the credential or by its id: this revokes its whole family. */
  async reuse(random: SeededRandom, gateway: Gateway, person: Person, key: string): Promise<void> {
    const state = person.history.latest;
    const { family, impersonates } = state.tokens.get(key)!;
    const named = `/personal_access_tokens/${person.secrets.get(key)!.id}/rotate`;
    // Only administrators may rotate impersonation tokens by id.
    const others = [...state.tokens].filter(
      ([, one]) => !impersonates && isAccepted(state, one) && one.scope === 'api',
    );
    const other = random.pick(others);
    const [asker, path] = random.weighted<readonly [Asker, string]>([
      [40, [{ person, token: key }, '/personal_access_tokens/self/rotate']],
      [impersonates ? 0 : 20, [{ person, token: key }, named]],
      [20, [other ? { person, token: other[0] } : 'root', named]],
      [20, ['root', named]],
    ]);
    const isPresented = typeof asker !== 'string' && asker.token === key;
    await this.make(asker, gateway, person, {
      kind: 'families ended',
      about: `${person.name} has the revoked token ${key} ${isPresented ? 'presented' : 'named'} to be replaced`,
      method: 'POST',
      path,
      retry: { method: 'POST', path: named },
      nextState: ({ status }) =>
        status === 400 || (isPresented && status === 401) ? withoutFamily(state, family) : null,
    });
  }

  private make(
    asker: Asker,
    gateway: Gateway,
    { history }: Person,
    change: Omit<Change<PersonState>, 'asker' | 'gateway' | 'history' | 'question'> &
      Partial<Pick<Change<PersonState>, 'question'>>,
  ) {
    return this.changes.make({ history, asker, gateway, question: ROOT_QUESTION, ...change });
  }
}
