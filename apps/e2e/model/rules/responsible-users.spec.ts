import {
  responsibleUsers,
  everResponsibleUsers,
  botsAfterExternalChange,
  holdersAfterGiverChange,
} from './responsible-users';
import type { PeopleById } from './responsible-users';
import { removedPerson, newPerson, successorOf, withToken } from './people';
import type { PersonState, Token } from './people';
import { tokenRefusals } from './reference-model';

const GOOD: Token = { scope: 'api', family: 't', status: 'good' };
const person = (external = false): PersonState => newPerson(external);
/** A bot of `creator` with one token of each issuer, in this order; all but the last were rotated. */
const bot = (creator: number, external: boolean, ...issuers: number[]): PersonState =>
  issuers.reduce(
    (state, issuer, place) =>
      withToken(state, `t${place}`, { ...GOOD, issuer, status: place === issuers.length - 1 ? 'good' : 'revoked' }),
    newPerson(external, { kind: 'bot', creator }),
  );
const external = (all: PeopleById): readonly (readonly [number, boolean])[] =>
  [...all].map(([id, state]) => [id, state.external] as const);

describe('a bot', () => {
  it('has its creator and the issuers of unrevoked tokens as responsible users', () => {
    expect([...responsibleUsers(bot(1, false, 2, 3))]).toEqual([1, 3]);
    expect([...everResponsibleUsers(bot(1, false, 2, 3))]).toEqual([1, 2, 3]);
  });

  it('becomes external if any responsible user does, and so do the bots that it created', () => {
    const all = new Map([
      [1, person(true)],
      [5, bot(1, false, 2)],
      [6, bot(2, false, 1)],
      [7, bot(5, false, 5)],
      [8, bot(2, false, 1, 2)],
      [9, person()],
    ]);
    expect(external(botsAfterExternalChange(all, 1))).toEqual([
      [5, true],
      [6, true],
      [7, true],
    ]);
  });

  it('becomes internal when no responsible user is external any more', () => {
    const all = new Map([
      [1, person(false)],
      [2, person(true)],
      [5, bot(1, true, 3)],
      [6, bot(1, true, 2)],
      [7, bot(5, true, 3)],
      [8, bot(3, true, 1, 3)],
      [9, bot(3, true, 3)],
    ]);
    expect(external(botsAfterExternalChange(all, 1))).toEqual([
      [5, false],
      [8, false],
      [7, false],
    ]);
  });

  it('is not affected by removed users', () => {
    const all = new Map([
      [1, person(false)],
      [2, removedPerson(person(true))],
      [5, bot(2, true, 1)],
    ]);
    expect(external(botsAfterExternalChange(all, 1))).toEqual([[5, false]]);
  });
});

describe('a token that an administrator created for another user', () => {
  const given: Token = { ...GOOD, issuer: 1, giver: 'active' };
  const acting: Token = { ...given, impersonates: true };
  const as = (token: Token): PersonState => withToken(withToken(person(), 'own', GOOD), 't', token);
  const refusalsOf = (state: PersonState): unknown[] => ['own', 't'].map((key) => tokenRefusals(state, key));
  const after = (giver: Partial<PersonState>, token: Token): PeopleById =>
    holdersAfterGiverChange(
      new Map([
        [1, newPerson(false, giver)],
        [2, as(token)],
        [3, person()],
      ]),
      1,
    );

  it.each([
    ['blocked', { admin: true, account: 'blocked' }],
    ['demoted', { admin: false }],
  ] as const)('is refused while the administrator is %s, and accepted again afterwards', (_, over) => {
    for (const token of [given, acting]) {
      const out = after(over, token);
      expect([...out.keys()]).toEqual([2]);
      expect(refusalsOf(out.get(2)!)).toEqual([null, [401]]);
      const back = holdersAfterGiverChange(new Map([...out, [1, newPerson(false, { admin: true })]]), 1);
      expect(refusalsOf(back.get(2)!)).toEqual([null, null]);
    }
  });

  it('is revoked when the administrator is removed', () => {
    const out = after({ admin: false, account: 'removed' }, given).get(2)!;
    expect(out.tokens.get('t')).toMatchObject({ status: 'revoked' });
    expect(refusalsOf(out)).toEqual([null, [401]]);
  });

  it('has no giver after its holder rotates it, unless it impersonates', () => {
    expect(successorOf(given, 'itself')).toEqual(GOOD);
    expect(successorOf({ ...acting, status: 'revoked' }, 'itself')).toEqual(acting);
    expect(successorOf(acting, 'root')).toEqual({ ...GOOD, giver: 'active', impersonates: true });
    expect(successorOf(given, 'root')).toEqual(GOOD);
  });
});

it("a bot's token keeps its issuer when it rotates itself, and has the rotating user as issuer otherwise", () => {
  const token: Token = { ...GOOD, issuer: 4 };
  expect(successorOf(token, 'itself')).toEqual(token);
  expect(successorOf(token, 7)).toEqual({ ...GOOD, issuer: 7 });
  expect(successorOf(token, 'root')).toEqual(GOOD);
});
