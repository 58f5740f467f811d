import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Call, Gateway, Person } from '../playing/world';
import { isOfToken } from '../playing/world';
import type { SourceKey } from '../rules/forest';
import { sourceOf } from '../rules/forest';
import type { Everybody } from '../rules/answering';
import { followersOf } from '../rules/answering';
import type { PersonState, Token } from '../rules/people';
import { newcomer, renewed, withMember, withoutFamily, withToken } from '../rules/people';
import type { Question } from '../rules/reference-model';
import { changing } from './changes';
import type { Change, Changes } from './changes';

/**
 * Whoever makes or renews a token, who is taken meanwhile: what they are then, the bot is at most. Shape: no bot of a
 * token, which may renew none but its own; the bots of the bot are taken, too.
 */
export type Maker = Extract<Asker, object>;

/**
 * Service accounts of groups, and tokens of groups and projects with the bots behind them, as owners make and renew
 * them. Source: reference identity-and-import 4.9, 5.
 */
export class BotChanges {
  constructor(private readonly changes: Changes) {}

  /** Shape: the caller holds the forest. The account can do nothing as yet. */
  async createAccount(gateway: Gateway, group: number, by: Maker): Promise<Person | null> {
    const key: SourceKey = `group ${group}`;
    const call = await this.changes.caller.ask({
      asker: by,
      gateway,
      question: changing(key, 50),
      method: 'POST',
      path: `/groups/${group}/service_accounts`,
      json: {},
    });
    if (call.status !== 201) return null;
    return this.made(call, 'service accounts made', botOf(by.person), { key, level: null });
  }

  /** Shape: the caller holds the forest. */
  async createBot(random: SeededRandom, gateway: Gateway, key: SourceKey, by: Maker): Promise<Person | null> {
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
    const state = withMember(botOf(by.person), key, { level, over: false });
    const secret = this.changes.world.name('t');
    const token: Token = { scope: 'api', family: secret, is: 'good', issuer: by.person.id };
    const bot = this.made(call, 'tokens of bots made', withToken(state, secret, token), { key, level });
    bot.secrets.set(secret, { id: call.body.id, secret: call.body.token });
    return bot;
  }

  /** One more token of a service account. Shape: null when there is no answer; then nobody knows what it is. */
  async issue(random: SeededRandom, gateway: Gateway, account: Person, by: Maker): Promise<Call | null> {
    const secret = this.changes.world.name('t');
    const scope = random.percent(10) ? 'read_api' : 'api';
    return this.changes.make({
      ...this.about(account, by, gateway),
      kind: 'tokens of accounts made',
      about: `${by.person.name} makes the token ${secret} of ${account.name} (${scope})`,
      method: 'POST',
      path: accountTokensOf(account),
      json: { name: secret, scopes: [scope] },
      question: changing(account.home!.key, 50),
      again: null,
      becomes: ({ status, body }) => {
        if (status !== 201) return null;
        account.secrets.set(secret, { id: body.id, secret: body.token });
        const token: Token = { scope, family: secret, is: 'good', issuer: by.person.id };
        return bound(withToken(account.history.latest, secret, token), by.person);
      },
    });
  }

  /** Shape: a token that was not revoked. */
  async rotate(gateway: Gateway, bot: Person, key: string, by: Maker): Promise<void> {
    const state = bot.history.latest;
    const token = state.tokens.get(key)!;
    const next = this.changes.world.name('t');
    const { id } = bot.secrets.get(key)!;
    await this.changes.make({
      ...this.about(bot, by, gateway),
      kind: 'tokens of bots rotated',
      about: `${by.person.name} replaces the token ${key} of ${bot.name} by ${next}`,
      method: 'POST',
      path: `${isOfToken(bot) ? tokensOf(bot.home!.key) : accountTokensOf(bot)}/${id}/rotate`,
      question: this.mayChange(bot, 'rotate'),
      again: { method: 'POST', path: `/personal_access_tokens/${id}/rotate` },
      becomes: ({ status, body }, isRepeated) => {
        // Replaced by the attempt without an answer, by whom it was meant; asking again has revoked what came of it.
        if (isRepeated && status === 400) {
          const seen = withToken(state, next, renewed(token, by.person.id));
          return bound(withoutFamily(seen, token.family), by.person);
        }
        if (status !== 200) return null;
        bot.secrets.set(next, { id: body.id, secret: body.token });
        const replaced = withToken(state, key, { ...token, is: 'revoked' });
        const successor = withToken(replaced, next, renewed(token, isRepeated ? 'root' : by.person.id));
        return isRepeated ? successor : bound(successor, by.person);
      },
    });
  }

  async revoke(gateway: Gateway, bot: Person, key: string, by: Maker): Promise<void> {
    const state = bot.history.latest;
    const { id } = bot.secrets.get(key)!;
    await this.changes.make({
      ...this.about(bot, by, gateway),
      kind: 'tokens of bots revoked',
      about: `${by.person.name} revokes the token ${key} of ${bot.name}`,
      method: 'DELETE',
      path: `${isOfToken(bot) ? tokensOf(bot.home!.key) : accountTokensOf(bot)}/${id}`,
      question: this.mayChange(bot, 'revoke'),
      again: { method: 'DELETE', path: `/personal_access_tokens/${id}` },
      becomes: ({ status }) =>
        status === 204 ? withToken(state, key, { ...state.tokens.get(key)!, is: 'revoked' }) : null,
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
    return level === null ? changing(key, 50) : aboutToken(key, { action, grant: level });
  }

  private about(
    bot: Person,
    by: Maker,
    gateway: Gateway,
  ): Pick<Change<PersonState>, 'history' | 'asker' | 'gateway' | 'besides'> {
    const { external } = bot.history.latest;
    const besides = (state: PersonState): Everybody => {
      if (state.external === external) return new Map();
      return followersOf(new Map(this.changes.world.everybody).set(bot.id, state), bot.id);
    };
    return { history: bot.history, asker: by, gateway, besides };
  }
}

function botOf(maker: Person): PersonState {
  return newcomer(maker.history.latest.external, { kind: 'bot', maker: maker.id });
}

/** Whoever gets to see a secret binds the bot. */
function bound(bot: PersonState, by: Person): PersonState {
  return by.history.latest.external ? { ...bot, external: true } : bot;
}

function aboutToken(key: SourceKey, token: NonNullable<Question['token']>): Question {
  return changing(key, sourceOf(key).kind === 'group' ? 50 : 40, { token });
}

function tokensOf(key: SourceKey): string {
  const { kind, id } = sourceOf(key);
  return `/${kind}s/${id}/access_tokens`;
}

function accountTokensOf({ id, home }: Person): string {
  return `/groups/${sourceOf(home!.key).id}/service_accounts/${id}/personal_access_tokens`;
}
