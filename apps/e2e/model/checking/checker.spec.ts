import { ANONYMOUS_MS, judge, LEASE_MS } from './checker';
import type { Decision } from './checker';
import { History } from './history';
import type { Forest } from '../rules/forest';
import { NO_FOREST } from '../rules/forest';
import { without } from '../rules/forest-steps';
import type { PersonState } from '../rules/people';
import { newcomer, withMember, withToken } from '../rules/people';
import type { Question } from '../rules/reference-model';

const MEMBER = { level: 10, over: false };
const TOKEN = { scope: 'api', family: 't', is: 'good' } as const;
const ISSUES: Question = { service: 'collaboration', source: { kind: 'project', id: 7 }, needs: 0, writes: false };
const PROJECT: Question = { ...ISSUES, service: 'identity' };
const RULES: Question = { ...ISSUES, service: 'package', needs: 40 };

const stranger = withToken(newcomer(false), 't', TOKEN);
const guest = withMember(stranger, 'project 7', MEMBER);
const signedOff = withToken(guest, 't', { ...TOKEN, is: 'revoked' });

/** A guest from 100 to 110 on by gateway A, and from 5000 to 5010 on what `then` says. */
function guestThen(then: PersonState | null): History<PersonState> {
  const history = new History(stranger);
  history.push({ start: 100, end: 110, state: guest, gateway: 'A', about: 'joins' });
  if (then) history.push({ start: 5000, end: 5010, state: then, gateway: 'A', about: 'leaves' });
  return history;
}

function aForest(visibility: 'private' | 'public' = 'private'): History<Forest> {
  const group = { id: 1, parent: null, path: 'nest', visibility };
  const project = { id: 7, group: 1, path: 'eggs', visibility };
  return new History({ ...NO_FOREST, groups: new Map([[1, group]]), projects: new Map([[7, project]]) });
}

/** A call between `start` and `start + 5`. */
function call(start: number, over: Partial<Decision> & { history?: History<PersonState> }): Decision {
  const { history = guestThen(stranger), ...rest } = over;
  const asker = { history, token: 't' };
  return {
    start,
    end: start + 5,
    gateway: 'A',
    question: ISSUES,
    asker,
    forest: aForest(),
    observed: 'allow',
    ...rest,
  };
}

describe('a member who was removed', () => {
  it('may be let in until the removal is answered', () => {
    expect(judge(call(5009, {}))).toBe('fine');
  });

  it('is a stale allow from then on, also within the lease of the token', () => {
    expect(judge(call(5011, {}))).toBe('stale allow');
  });

  it('may be let in by another gateway until the lease is over', () => {
    expect(judge(call(5011 + LEASE_MS - 20, { gateway: 'B' }))).toBe('by lease');
    expect(judge(call(5020 + LEASE_MS, { gateway: 'B' }))).toBe('stale allow');
  });

  it('is never let in by identity, whichever gateway is asked', () => {
    expect(judge(call(5011, { gateway: 'B', question: PROJECT }))).toBe('stale allow');
  });

  it('may be refused as soon as the removal has begun, not before', () => {
    expect(judge(call(4999, { observed: 404 }))).toBe('fine');
    expect(judge(call(4990, { observed: 404 }))).toBe('stale deny');
  });
});

describe('a token', () => {
  it('that was revoked lets nobody in by the gateway that revoked it', () => {
    const history = guestThen(signedOff);
    expect(judge(call(5011, { history }))).toBe('stale allow');
    expect(judge(call(5011, { history, gateway: 'B' }))).toBe('by lease');
    expect(judge(call(5011, { history, observed: 401 }))).toBe('fine');
  });

  it('that is good is refused by no gateway', () => {
    expect(judge(call(2000, { gateway: 'B', observed: 401 }))).toBe('stale deny');
  });
});

it('a guest below the needed level is refused with 403, and with nothing else', () => {
  expect(judge(call(200, { question: RULES, observed: 403 }))).toBe('fine');
  expect(judge(call(200, { question: RULES, observed: 404 }))).toBe('wrong refusal');
  expect(judge(call(200, { question: RULES }))).toBe('stale allow');
});

it('two states count only when they may have held at one moment', () => {
  const forest = aForest('public');
  const hidden = aForest().latest;
  const gone = without(hidden, { kind: 'project', thing: hidden.projects.get(7)! });
  forest.push({ start: 90, end: 95, state: hidden, gateway: 'A', about: 'is hidden' });
  const history = guestThen(null);
  expect(judge({ ...call(50, { history, forest }), end: 200, observed: 404 })).toBe('fine');
  expect(judge({ ...call(50, { history, forest }), end: 80, observed: 404 })).toBe('stale deny');
  expect(judge({ ...call(98, { history, forest }), end: 200 })).toBe('fine');
  // It was gone before they became a member.
  forest.push({ start: 96, end: 99, state: gone, gateway: 'A', about: 'is removed' });
  expect(judge({ ...call(94, { history, forest }), end: 200 })).toBe('fine');
  expect(judge({ ...call(98, { history, forest }), end: 200 })).toBe('stale allow');
});

it('an anonymous caller at another gateway may meet what was public a minute ago', () => {
  const forest = aForest('public');
  forest.push({ start: 90, end: 95, state: aForest().latest, gateway: 'A', about: 'is hidden' });
  const anonymous = { forest, asker: 'anonymous' } as const;
  expect(judge(call(100, anonymous))).toBe('stale allow');
  expect(judge(call(100, { ...anonymous, gateway: 'B' }))).toBe('by lease');
  expect(judge(call(200 + ANONYMOUS_MS, { ...anonymous, gateway: 'B' }))).toBe('stale allow');
});

describe('what somebody is, the token check says', () => {
  const open = { visibility: 'internal' } as const;
  const internal = (): History<Forest> => {
    const forest = aForest();
    const { groups, projects, ...rest } = forest.latest;
    return new History({
      ...rest,
      groups: new Map([[1, { ...groups.get(1)!, ...open }]]),
      projects: new Map([[7, { ...projects.get(7)!, ...open }]]),
    });
  };
  const madeExternal = (): History<PersonState> => {
    const history = new History(stranger);
    history.push({ start: 100, end: 110, state: { ...stranger, external: true }, gateway: 'A', about: 'is external' });
    return history;
  };

  it('so another gateway may go by it for the time of its lease, also before identity', () => {
    for (const question of [ISSUES, PROJECT]) {
      const about = { history: madeExternal(), forest: internal(), question };
      expect(judge(call(111 + LEASE_MS - 20, { ...about, gateway: 'B' }))).toBe('by lease');
      expect(judge(call(120 + LEASE_MS, { ...about, gateway: 'B' }))).toBe('stale allow');
      expect(judge(call(120, about))).toBe('stale allow');
    }
  });
});

describe('an effect', () => {
  const told = (start: number, end: number, over: Partial<Decision> = {}): Decision => ({
    ...call(start, over),
    end,
    question: { ...ISSUES, effect: 'e-mail' },
    asker: { history: guestThen(stranger), token: null },
  });

  it('reaches whoever could read its cause at some moment until then', () => {
    expect(judge(told(4000, 9000))).toBe('fine');
    expect(judge(told(5009, 9000))).toBe('fine');
  });

  it('is stale when they could not any more when it was caused', () => {
    expect(judge(told(5011, 9000))).toBe('stale effect');
    expect(judge(told(5011, 9000, { gateway: 'B' }))).toBe('by lease');
    expect(judge(told(5020 + LEASE_MS, 9000, { gateway: 'B' }))).toBe('stale effect');
  });
});
