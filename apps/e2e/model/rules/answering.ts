import type { PersonState, Token } from './people';

/** Everybody by id, as they are now. */
export type Everybody = ReadonlyMap<number, PersonState>;

/**
 * Who answers for a bot now: whoever made it, and whoever gave out a token of it that was not revoked. A bot is at most
 * what these are. Source: reference identity-and-import 4.9.
 */
export function answering(bot: PersonState): ReadonlySet<number> {
  return peopleBehind(bot, (token) => token.is !== 'revoked');
}

/** Also those whose tokens were replaced or revoked since. */
export function everAnswering(bot: PersonState): ReadonlySet<number> {
  return peopleBehind(bot, () => true);
}

/**
 * What becomes of the bots of somebody who has become external, or is it no more, and of the bots of those. A rotation
 * never widens: whoever was external at it binds the bot until their own flag changes, also when their token was
 * replaced since. Shape: `all` with the new state of that person; answers those who change with them.
 */
export function followersOf(all: Everybody, id: number): Everybody {
  const changed = new Map<number, PersonState>();
  const now = (one: number): PersonState | undefined => changed.get(one) ?? all.get(one);
  const binds = (one: number): boolean => now(one)?.external === true && now(one)?.standing !== 'gone';
  const waiting = [id];
  for (const from of waiting) {
    for (const [other, { kind }] of all) {
      const bot = now(other)!;
      if (other === id || kind !== 'bot') continue;
      const isBound = binds(from) && answering(bot).has(from);
      const isFree = !binds(from) && everAnswering(bot).has(from) && ![...answering(bot)].some(binds);
      if (bot.external ? !isFree : !isBound) continue;
      changed.set(other, { ...bot, external: isBound });
      waiting.push(other);
    }
  }
  return changed;
}

/**
 * What becomes of the tokens that somebody gave out, now that they are something else: they are good while whoever gave
 * them out is an administrator whom nobody has shut out, and revoked when that one is removed. Shape: as above.
 * Source: reference identity-and-import 4.4, 4.7.
 */
export function givenOutBy(all: Everybody, id: number): Everybody {
  const person = all.get(id)!;
  const giver = isInOffice(person) ? 'in office' : 'out of office';
  const change: Partial<Token> = person.standing === 'gone' ? { giver, is: 'revoked' } : { giver };
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

/** May they act as others, and give them tokens? */
export function isInOffice({ admin, standing }: PersonState): boolean {
  return admin && standing === 'active';
}

function peopleBehind(bot: PersonState, counts: (token: Token) => boolean): ReadonlySet<number> {
  const issuers = [...bot.tokens.values()].filter(counts).flatMap(({ issuer }) => issuer ?? []);
  return new Set(bot.maker === undefined ? issuers : [bot.maker, ...issuers]);
}
