import type { PersonState, Token } from './people';

/** Current states of all people by id. */
export type PeopleById = ReadonlyMap<number, PersonState>;

/**
 * Returns the ids of the users that limit a bot now: its creator, and the issuers of its tokens that were not revoked. The
 * bot is external if one of them is. Source: reference identity-and-import 4.9.
 */
export function responsibleUsers(bot: PersonState): ReadonlySet<number> {
  return creatorAndIssuers(bot, (token) => token.status !== 'revoked');
}

/** The same, including issuers whose tokens were rotated or revoked since. */
export function everResponsibleUsers(bot: PersonState): ReadonlySet<number> {
  return creatorAndIssuers(bot, () => true);
}

/**
 * Returns the new states of bots, and recursively of their bots, after the external flag of a person changed. A
 * rotation never makes a bot internal: an issuer who was external at that time keeps the bot external until their own
 * flag changes, even if their token was rotated since. `all` contains the new state of that person. The result contains
 * only changed bots.
 */
export function botsAfterExternalChange(all: PeopleById, id: number): PeopleById {
  const changed = new Map<number, PersonState>();
  const now = (one: number): PersonState | undefined => changed.get(one) ?? all.get(one);
  const binds = (one: number): boolean => now(one)?.external === true && now(one)?.account !== 'removed';
  const waiting = [id];
  for (const from of waiting) {
    for (const [other, { kind }] of all) {
      const bot = now(other)!;
      if (other === id || kind !== 'bot') continue;
      const isBound = binds(from) && responsibleUsers(bot).has(from);
      const isFree = !binds(from) && everResponsibleUsers(bot).has(from) && ![...responsibleUsers(bot)].some(binds);
      if (bot.external ? !isFree : !isBound) continue;
      changed.set(other, { ...bot, external: isBound });
      waiting.push(other);
    }
  }
  return changed;
}

/**
 * Returns the new states of people for whom this person created tokens as an administrator. These tokens are accepted
 * while the issuer is an active administrator, and revoked when the issuer is removed. `all` contains the new state of
 * the issuer. The result contains only people with such tokens.
 * Source: reference identity-and-import 4.4, 4.7.
 */
export function holdersAfterGiverChange(all: PeopleById, id: number): PeopleById {
  const person = all.get(id)!;
  const giver = isActiveAdmin(person) ? 'active' : 'inactive';
  const change: Partial<Token> = person.account === 'removed' ? { giver, status: 'revoked' } : { giver };
  const changed = new Map<number, PersonState>();
  for (const [other, state] of all) {
    const isTheirs = (token: Token): boolean => token.giver !== undefined && token.issuer === id;
    if (![...state.tokens.values()].some(isTheirs)) continue;
    const tokens = new Map(state.tokens);
    for (const [key, token] of tokens) if (isTheirs(token)) tokens.set(key, { ...token, ...change });
    changed.set(other, { ...state, tokens });
  }
  return changed;
}

/** Reports whether the person may impersonate others and create tokens for them. */
function isActiveAdmin({ admin, account }: PersonState): boolean {
  return admin && account === 'active';
}

function creatorAndIssuers(bot: PersonState, counts: (token: Token) => boolean): ReadonlySet<number> {
  const issuers = [...bot.tokens.values()].filter(counts).flatMap(({ issuer }) => issuer ?? []);
  return new Set(bot.creator === undefined ? issuers : [bot.creator, ...issuers]);
}
