import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway, Person } from '../playing/world';
import { opens, renewed, withoutFamily, withToken } from '../rules/people';
import { ALONE, dayFromNow } from './changes';
import type { Change, Changes } from './changes';
import type { PersonState } from '../rules/people';

/**
 * Tokens are made, replaced and revoked, and some are used once more when they should not be.
 * Source: reference identity-and-import 4.8.
 */
export class TokenChanges {
  constructor(private readonly changes: Changes) {}

  async create(random: SeededRandom, gateway: Gateway, person: Person): Promise<void> {
    const scope = random.percent(18) ? 'read_api' : 'api';
    const isOver = random.percent(8);
    const key = `t${this.changes.world.name('')}`;
    const json = { name: key, scopes: [scope], ...(isOver ? { expires_at: dayFromNow(0) } : {}) };
    await this.make('root', gateway, person, {
      kind: 'tokens made',
      about: `${person.name} gets the ${isOver ? 'dead ' : ''}token ${key} (${scope})`,
      method: 'POST',
      path: `/users/${person.id}/personal_access_tokens`,
      json,
      again: null,
      becomes: (answer) => {
        if (answer.status !== 201) return null;
        person.secrets.set(key, { id: answer.body.id, secret: answer.body.token });
        return withToken(person.history.latest, key, { scope, family: key, is: isOver ? 'over' : 'good' });
      },
    });
  }

  async revoke(random: SeededRandom, gateway: Gateway, person: Person, key: string): Promise<void> {
    const state = person.history.latest;
    const token = state.tokens.get(key)!;
    const byRoot = `/personal_access_tokens/${person.secrets.get(key)!.id}`;
    const isSelf = opens(state, token) && random.percent(50);
    await this.make(isSelf ? { person, token: key } : 'root', gateway, person, {
      kind: 'tokens revoked',
      about: `${person.name} loses the token ${key}`,
      method: 'DELETE',
      path: isSelf ? '/personal_access_tokens/self' : byRoot,
      // Every token may end itself, whatever it is for.
      question: { ...ALONE, writes: !isSelf },
      again: { method: 'DELETE', path: byRoot },
      becomes: ({ status }) => (status === 204 ? withToken(state, key, { ...token, is: 'revoked' }) : null),
    });
  }

  /** Shape: a token that was not revoked; one that ran out cannot replace itself. */
  async rotate(random: SeededRandom, gateway: Gateway, person: Person, key: string): Promise<void> {
    const state = person.history.latest;
    const token = state.tokens.get(key)!;
    const byRoot = `/personal_access_tokens/${person.secrets.get(key)!.id}/rotate`;
    const isSelf = opens(state, token) && random.percent(50);
    const next = `t${this.changes.world.name('')}`;
    await this.make(isSelf ? { person, token: key } : 'root', gateway, person, {
      kind: 'tokens rotated',
      about: `${person.name} has the token ${key} replaced by ${next}`,
      method: 'POST',
      path: isSelf ? '/personal_access_tokens/self/rotate' : byRoot,
      again: { method: 'POST', path: byRoot },
      becomes: ({ status, body }, isRepeated) => {
        // It was replaced by the attempt without an answer; asking again has revoked all that came of it.
        if (status === 400) return withoutFamily(state, token.family);
        if (status !== 200) return null;
        person.secrets.set(next, { id: body.id, secret: body.token });
        const successor = renewed(token, isSelf && !isRepeated ? 'itself' : 'root');
        return withToken(withToken(state, key, { ...token, is: 'revoked' }), next, successor);
      },
    });
  }

  /** A revoked token is presented to be replaced, or named as what shall be: all that came of it is revoked. */
  async reuse(random: SeededRandom, gateway: Gateway, person: Person, key: string): Promise<void> {
    const state = person.history.latest;
    const { family, impersonates } = state.tokens.get(key)!;
    const named = `/personal_access_tokens/${person.secrets.get(key)!.id}/rotate`;
    // Nobody but administrators may name what an administrator acts by.
    const others = [...state.tokens].filter(([, one]) => !impersonates && opens(state, one) && one.scope === 'api');
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
      again: { method: 'POST', path: named },
      becomes: ({ status }) =>
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
    return this.changes.make({ history, asker, gateway, question: ALONE, ...change });
  }
}
