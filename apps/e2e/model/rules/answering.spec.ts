import { answering, everAnswering, followersOf, givenOutBy } from './answering';
import type { Everybody } from './answering';
import { departed, newcomer, renewed, withToken } from './people';
import type { PersonState, Token } from './people';
import { refusalsAtDoor } from './reference-model';

const GOOD: Token = { scope: 'api', family: 't', is: 'good' };
const person = (external = false): PersonState => newcomer(external);
/** A bot of `maker` with one token of each issuer, in this order; all but the last were replaced. */
const bot = (maker: number, external: boolean, ...issuers: number[]): PersonState =>
  issuers.reduce(
    (state, issuer, place) =>
      withToken(state, `t${place}`, { ...GOOD, issuer, is: place === issuers.length - 1 ? 'good' : 'revoked' }),
    newcomer(external, { kind: 'bot', maker }),
  );
const external = (all: Everybody): readonly (readonly [number, boolean])[] =>
  [...all].map(([id, state]) => [id, state.external] as const);

describe('a bot', () => {
  it('has its maker and the issuers of what was not revoked to answer for it', () => {
    expect([...answering(bot(1, false, 2, 3))]).toEqual([1, 3]);
    expect([...everAnswering(bot(1, false, 2, 3))]).toEqual([1, 2, 3]);
  });

  it('becomes external with any of them, and so do the bots that it made', () => {
    const all = new Map([
      [1, person(true)],
      [5, bot(1, false, 2)],
      [6, bot(2, false, 1)],
      [7, bot(5, false, 5)],
      [8, bot(2, false, 1, 2)],
      [9, person()],
    ]);
    expect(external(followersOf(all, 1))).toEqual([
      [5, true],
      [6, true],
      [7, true],
    ]);
  });

  it('is free again when nobody binds it any more', () => {
    const all = new Map([
      [1, person(false)],
      [2, person(true)],
      [5, bot(1, true, 3)],
      [6, bot(1, true, 2)],
      [7, bot(5, true, 3)],
      [8, bot(3, true, 1, 3)],
      [9, bot(3, true, 3)],
    ]);
    expect(external(followersOf(all, 1))).toEqual([
      [5, false],
      [8, false],
      [7, false],
    ]);
  });

  it('is bound by nobody who is gone', () => {
    const all = new Map([
      [1, person(false)],
      [2, departed(person(true))],
      [5, bot(2, true, 1)],
    ]);
    expect(external(followersOf(all, 1))).toEqual([[5, false]]);
  });
});

describe('a token that an administrator gave out', () => {
  const given: Token = { ...GOOD, issuer: 1, giver: 'in office' };
  const acting: Token = { ...given, impersonates: true };
  const as = (token: Token): PersonState => withToken(withToken(person(), 'own', GOOD), 't', token);
  const doorsOf = (state: PersonState): unknown[] => ['own', 't'].map((key) => refusalsAtDoor(state, key));
  const after = (giver: Partial<PersonState>, token: Token): Everybody =>
    givenOutBy(
      new Map([
        [1, newcomer(false, giver)],
        [2, as(token)],
        [3, person()],
      ]),
      1,
    );

  it.each([
    ['blocked', { admin: true, standing: 'blocked' }],
    ['demoted', { admin: false }],
  ] as const)('is refused while they are %s, and good again when they are back', (_, over) => {
    for (const token of [given, acting]) {
      const out = after(over, token);
      expect([...out.keys()]).toEqual([2]);
      expect(doorsOf(out.get(2)!)).toEqual([null, [401]]);
      const back = givenOutBy(new Map([...out, [1, newcomer(false, { admin: true })]]), 1);
      expect(doorsOf(back.get(2)!)).toEqual([null, null]);
    }
  });

  it('ends for good with their removal', () => {
    const out = after({ admin: false, standing: 'gone' }, given).get(2)!;
    expect(out.tokens.get('t')).toMatchObject({ is: 'revoked' });
    expect(doorsOf(out)).toEqual([null, [401]]);
  });

  it('is the own one of whoever replaces it, but not when an administrator acts by it', () => {
    expect(renewed(given, 'itself')).toEqual(GOOD);
    expect(renewed({ ...acting, is: 'revoked' }, 'itself')).toEqual(acting);
    expect(renewed(acting, 'root')).toEqual({ ...GOOD, giver: 'in office', impersonates: true });
    expect(renewed(given, 'root')).toEqual(GOOD);
  });
});

it('the token of a bot that replaces itself keeps who gave it out, and has who replaced it else', () => {
  const token: Token = { ...GOOD, issuer: 4 };
  expect(renewed(token, 'itself')).toEqual(token);
  expect(renewed(token, 7)).toEqual({ ...GOOD, issuer: 7 });
  expect(renewed(token, 'root')).toEqual(GOOD);
});
