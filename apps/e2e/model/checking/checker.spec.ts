import { ANONYMOUS_MS, classify, LEASE_MS } from './checker';
import type { Decision } from './checker';
import { History } from './history';
import type { Forest } from '../rules/forest';
import { NO_FOREST } from '../rules/forest';
import { without } from '../rules/forest-steps';
import type { PersonState } from '../rules/people';
import { newPerson, withMembership, withToken } from '../rules/people';
import type { Question } from '../rules/reference-model';

const MEMBER = { level: 10, isExpired: false };
const TOKEN = { scope: 'api', family: 't', status: 'good' } as const;
const ISSUES: Question = { service: 'collaboration', source: { kind: 'project', id: 7 }, needs: 0, writes: false };
const PROJECT: Question = { ...ISSUES, service: 'identity' };
const RULES: Question = { ...ISSUES, service: 'package', needs: 40 };

const nonMember = withToken(newPerson(false), 't', TOKEN);
const guest = withMembership(nonMember, 'project 7', MEMBER);
const signedOff = withToken(guest, 't', { ...TOKEN, status: 'revoked' });

/** A person who becomes a guest between 100 and 110, and `then` between 5000 and 5010, both through gateway A. */
function guestThen(then: PersonState | null): History<PersonState> {
  const history = new History(nonMember);
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
  const { history = guestThen(nonMember), ...rest } = over;
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
  it('may be allowed until the removal is answered', () => {
    expect(classify(call(5009, {}))).toBe('fine');
  });

  it('is a stale allow if allowed afterwards, also within the lease of the token', () => {
    expect(classify(call(5011, {}))).toBe('stale allow');
  });

  it('may be allowed by another gateway until the lease expires', () => {
    expect(classify(call(5011 + LEASE_MS - 20, { gateway: 'B' }))).toBe('by lease');
    expect(classify(call(5020 + LEASE_MS, { gateway: 'B' }))).toBe('stale allow');
  });

  it('is never allowed by identity, through any gateway', () => {
    expect(classify(call(5011, { gateway: 'B', question: PROJECT }))).toBe('stale allow');
  });

  it('may be refused as soon as the removal has begun, not before', () => {
    expect(classify(call(4999, { observed: 404 }))).toBe('fine');
    expect(classify(call(4990, { observed: 404 }))).toBe('stale deny');
  });
});

describe('a token', () => {
  it('is refused after its revocation by the gateway that revoked it', () => {
    const history = guestThen(signedOff);
    expect(classify(call(5011, { history }))).toBe('stale allow');
    expect(classify(call(5011, { history, gateway: 'B' }))).toBe('by lease');
    expect(classify(call(5011, { history, observed: 401 }))).toBe('fine');
  });

  it('is accepted by every gateway while it is good', () => {
    expect(classify(call(2000, { gateway: 'B', observed: 401 }))).toBe('stale deny');
  });
});

it('a guest below the needed level is refused with 403 and no other status', () => {
  expect(classify(call(200, { question: RULES, observed: 403 }))).toBe('fine');
  expect(classify(call(200, { question: RULES, observed: 404 }))).toBe('wrong refusal');
  expect(classify(call(200, { question: RULES }))).toBe('stale allow');
});

it('two states explain an answer only if they may have held at the same moment', () => {
  const forest = aForest('public');
  const hidden = aForest().latest;
  const gone = without(hidden, { kind: 'project', entity: hidden.projects.get(7)! });
  forest.push({ start: 90, end: 95, state: hidden, gateway: 'A', about: 'is hidden' });
  const history = guestThen(null);
  expect(classify({ ...call(50, { history, forest }), end: 200, observed: 404 })).toBe('fine');
  expect(classify({ ...call(50, { history, forest }), end: 80, observed: 404 })).toBe('stale deny');
  expect(classify({ ...call(98, { history, forest }), end: 200 })).toBe('fine');
  // The project was deleted before the person became a member.
  forest.push({ start: 96, end: 99, state: gone, gateway: 'A', about: 'is removed' });
  expect(classify({ ...call(94, { history, forest }), end: 200 })).toBe('fine');
  expect(classify({ ...call(98, { history, forest }), end: 200 })).toBe('stale allow');
});

it('an anonymous caller at another gateway may see projects that were public a minute ago', () => {
  const forest = aForest('public');
  forest.push({ start: 90, end: 95, state: aForest().latest, gateway: 'A', about: 'is hidden' });
  const anonymous = { forest, asker: 'anonymous' } as const;
  expect(classify(call(100, anonymous))).toBe('stale allow');
  expect(classify(call(100, { ...anonymous, gateway: 'B' }))).toBe('by lease');
  expect(classify(call(200 + ANONYMOUS_MS, { ...anonymous, gateway: 'B' }))).toBe('stale allow');
});

describe('the external flag comes from the token check', () => {
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
    const history = new History(nonMember);
    history.push({ start: 100, end: 110, state: { ...nonMember, external: true }, gateway: 'A', about: 'is external' });
    return history;
  };

  it('so another gateway may use the old flag during its lease, also for identity', () => {
    for (const question of [ISSUES, PROJECT]) {
      const about = { history: madeExternal(), forest: internal(), question };
      expect(classify(call(111 + LEASE_MS - 20, { ...about, gateway: 'B' }))).toBe('by lease');
      expect(classify(call(120 + LEASE_MS, { ...about, gateway: 'B' }))).toBe('stale allow');
      expect(classify(call(120, about))).toBe('stale allow');
    }
  });
});

describe('an effect', () => {
  const effectBetween = (start: number, end: number, over: Partial<Decision> = {}): Decision => ({
    ...call(start, over),
    end,
    question: { ...ISSUES, effect: 'e-mail' },
    asker: { history: guestThen(nonMember), token: null },
  });

  it('is fine if the recipient could read its cause at some moment until then', () => {
    expect(classify(effectBetween(4000, 9000))).toBe('fine');
    expect(classify(effectBetween(5009, 9000))).toBe('fine');
  });

  it('is stale if the recipient could no longer read its cause when it was created', () => {
    expect(classify(effectBetween(5011, 9000))).toBe('stale effect');
    expect(classify(effectBetween(5011, 9000, { gateway: 'B' }))).toBe('by lease');
    expect(classify(effectBetween(5020 + LEASE_MS, 9000, { gateway: 'B' }))).toBe('stale effect');
  });
});
