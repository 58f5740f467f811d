import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Call, Gateway, Person } from '../playing/world';
import { isTokenBot } from '../playing/world';
import type { SourceKey } from '../rules/forest';
import { sourceOf } from '../rules/forest';
import type { PeopleById } from '../rules/responsible-users';
import { botsAfterExternalChange } from '../rules/responsible-users';
import type { PersonState, Token } from '../rules/people';
import { newPerson, successorOf, withMembership, withoutFamily, withToken } from '../rules/people';
import type { Question } from '../rules/reference-model';
import { changeQuestion } from './changes';
import type { Change, Changes } from './changes';

/**
 * A user who creates or rotates a bot's token. The caller locks the user during the change, because the bot is external
 * if the issuer is. The user is not the bot of a token, which may rotate only its own. The bots of the changed bot are
 * locked, too.
 */
export type Issuer = Extract<Asker, object>;

/**
 * Creates service accounts of groups, and creates and rotates tokens of groups and projects with their bots, as owners.
 * Source: reference identity-and-import 4.9, 5.
 */
export class BotChanges {
  constructor(private readonly changes: Changes) {}

  /** Creates a service account, which has no token yet. The caller must hold the forest. */
  async createAccount(gateway: Gateway, group: number, by: Issuer): Promise<Person | null> {
    const key: SourceKey = `group ${group}`;
    const call = await this.changes.caller.ask({
      asker: by,
      gateway,
      question: changeQuestion(key, 50),
      method: 'POST',
      path: `/groups/${group}/service_accounts`,
      json: {},
    });
    if (call.status !== 201) return null;
    return this.made(call, 'service accounts made', botOf(by.person), { key, level: null });
  }

  /** Creates a token of a group or project with its bot. The caller must hold the forest. */
  async createBot(random: SeededRandom, gateway: Gateway, key: SourceKey, by: Issuer): Promise<Person | null> {
    const level = random.weighted([
      [30, 10],
      [30, 30],
      [20, 40],
      [20, 50],
    ]);
    const call = await this.changes.caller.ask({
      asker: by,
      gateway,
      question: aboutToken(key, { action: 'make', grant: level }),
      method: 'POST',
      path: tokensOf(key),
      json: { name: 'made by the model', scopes: ['api'], access_level: level },
    });
    if (call.status !== 201) return null;
    const state = withMembership(botOf(by.person), key, { level, isExpired: false });
    const secret = this.changes.world.name('t');
    const token: Token = { scope: 'api', family: secret, status: 'good', issuer: by.person.id };
    const bot = this.made(call, 'tokens of bots made', withToken(state, secret, token), { key, level });
    bot.secrets.set(secret, { id: call.body.id, secret: call.body.token });
    return bot;
  }

  /** Creates a token of a service account. Returns null if there is no answer, so that the token is unknown. */
  async issue(random: SeededRandom, gateway: Gateway, account: Person, by: Issuer): Promise<Call | null> {
    const secret = this.changes.world.name('t');
    const scope = random.percent(10) ? 'read_api' : 'api';
    return this.changes.make({
      ...this.about(account, by, gateway),
      kind: 'tokens of accounts made',
      about: `${by.person.name} makes the token ${secret} of ${account.name} (${scope})`,
      method: 'POST',
      path: accountTokensOf(account),
      json: { name: secret, scopes: [scope] },
      question: changeQuestion(account.home!.key, 50),
      retry: null,
      nextState: ({ status, body }) => {
        if (status !== 201) return null;
        account.secrets.set(secret, { id: body.id, secret: body.token });
        const token: Token = { scope, family: secret, status: 'good', issuer: by.person.id };
        return boundBy(withToken(account.history.latest, secret, token), by.person);
      },
    });
  }

  /** Rotates a token that was not revoked. */
  async rotate(gateway: Gateway, bot: Person, key: string, by: Issuer): Promise<void> {
    const state = bot.history.latest;
    const token = state.tokens.get(key)!;
    const next = this.changes.world.name('t');
    const { id } = bot.secrets.get(key)!;
    await this.changes.make({
      ...this.about(bot, by, gateway),
      kind: 'tokens of bots rotated',
      about: `${by.person.name} replaces the token ${key} of ${bot.name} by ${next}`,
      method: 'POST',
      path: `${isTokenBot(bot) ? tokensOf(bot.home!.key) : accountTokensOf(bot)}/${id}/rotate`,
      question: this.mayChange(bot, 'rotate'),
      retry: { method: 'POST', path: `/personal_access_tokens/${id}/rotate` },
      nextState: ({ status, body }, isRepeated) => {
        // The attempt without an answer rotated it as `by`; the retry was a reuse and revoked the family.
        if (isRepeated && status === 400) {
          const seen = withToken(state, next, successorOf(token, by.person.id));
          return boundBy(withoutFamily(seen, token.family), by.person);
        }
        if (status !== 200) return null;
        bot.secrets.set(next, { id: body.id, secret: body.token });
        const replaced = withToken(state, key, { ...token, status: 'revoked' });
        const successor = withToken(replaced, next, successorOf(token, isRepeated ? 'root' : by.person.id));
        return isRepeated ? successor : boundBy(successor, by.person);
      },
    });
  }

  async revoke(gateway: Gateway, bot: Person, key: string, by: Issuer): Promise<void> {
    const state = bot.history.latest;
    const { id } = bot.secrets.get(key)!;
    await this.changes.make({
      ...this.about(bot, by, gateway),
      kind: 'tokens of bots revoked',
      about: `${by.person.name} revokes the token ${key} of ${bot.name}`,
      method: 'DELETE',
      path: `${isTokenBot(bot) ? tokensOf(bot.home!.key) : accountTokensOf(bot)}/${id}`,
      question: this.mayChange(bot, 'revoke'),
      retry: { method: 'DELETE', path: `/personal_access_tokens/${id}` },
      nextState: ({ status }) =>
        status === 204 ? withToken(state, key, { ...state.tokens.get(key)!, status: 'revoked' }) : null,
    });
  }

  private made(call: Call, kind: string, state: PersonState, home: NonNullable<Person['home']>): Person {
    const { made, world } = this.changes;
    made.set(kind, (made.get(kind) ?? 0) + 1);
    const id = home.level === null ? call.body.id : call.body.user_id;
    return world.addPerson(id, world.name('bot'), state, home);
  }

  private mayChange(bot: Person, action: 'rotate' | 'revoke'): Question {
    const { key, level } = bot.home!;
    return level === null ? changeQuestion(key, 50) : aboutToken(key, { action, grant: level });
  }

  private about(
    bot: Person,
    by: Issuer,
    gateway: Gateway,
  ): Pick<Change<PersonState>, 'history' | 'asker' | 'gateway' | 'alsoChanged'> {
    const { external } = bot.history.latest;
    const alsoChanged = (state: PersonState): PeopleById => {
      if (state.external === external) return new Map();
      return botsAfterExternalChange(new Map(this.changes.world.peopleById).set(bot.id, state), bot.id);
    };
    return { history: bot.history, asker: by, gateway, alsoChanged: alsoChanged };
  }
}

function botOf(creator: Person): PersonState {
  return newPerson(creator.history.latest.external, { kind: 'bot', creator: creator.id });
}

/** Makes the bot external if the user who sees its new secret is. */
function boundBy(bot: PersonState, by: Person): PersonState {
  return by.history.latest.external ? { ...bot, external: true } : bot;
}

function aboutToken(key: SourceKey, token: NonNullable<Question['token']>): Question {
  return changeQuestion(key, sourceOf(key).kind === 'group' ? 50 : 40, { token });
}

function tokensOf(key: SourceKey): string {
  const { kind, id } = sourceOf(key);
  return `/${kind}s/${id}/access_tokens`;
}

function accountTokensOf({ id, home }: Person): string {
  return `/groups/${sourceOf(home!.key).id}/service_accounts/${id}/personal_access_tokens`;
}
