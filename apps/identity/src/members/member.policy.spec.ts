import type { Viewer } from '@rookery/kernel';
import { inheritedLevelProblem, mayGrantMemberLevel, mayManageMembers } from './member.policy';
import { parseUserReferences } from './listing/user-reference';

const viewer = { isAdmin: false } as Viewer;
const admin = { isAdmin: true } as Viewer;
const LEVELS = [0, 10, 15, 20, 30, 40, 50];

describe('members', () => {
  it.each([
    ['group', 50],
    ['project', 40],
  ] as const)('of a %s can be managed from level %i', (kind, needed) => {
    expect(LEVELS.map((level) => mayManageMembers(viewer, { kind, level }))).toEqual(
      LEVELS.map((level) => level >= needed),
    );
    expect(mayManageMembers(admin, { kind, level: 0 })).toBe(true);
  });

  it('cannot get a higher level than the caller has', () => {
    expect(mayGrantMemberLevel(viewer, { level: 40 }, 40)).toBe(true);
    expect(mayGrantMemberLevel(viewer, { level: 40 }, 50)).toBe(false);
    expect(mayGrantMemberLevel(admin, { level: 0 }, 50)).toBe(true);
  });

  it('have at least the inherited level', () => {
    expect(inheritedLevelProblem(30, { access_level: 30, name: 'Foo' })).toBeNull();
    expect(inheritedLevelProblem(20, { access_level: 30, name: 'Foo' })).toBe(
      'should be greater than or equal to Developer inherited membership from group Foo',
    );
  });
});

describe('users named in a request', () => {
  it.each([
    [{ user_id: 7 }, [{ id: 7 }]],
    [{ user_id: '7, 8,7' }, [{ id: 7 }, { id: 8 }]],
    [{ user_id: [7, '8'] }, [{ id: 7 }, { id: 8 }]],
    [{ username: 'ada,bob' }, [{ username: 'ada' }, { username: 'bob' }]],
  ])('%j', (params, expected) => expect(parseUserReferences(params)).toEqual(expected));

  it.each([
    { user_id: '' },
    { user_id: 'x' },
    { user_id: '1.5' },
    { user_id: '-1' },
    { user_id: {} },
    { username: ' ' },
  ])('refuses %j', (params) => expect(() => parseUserReferences(params)).toThrow(/is (invalid|empty)/));
});
