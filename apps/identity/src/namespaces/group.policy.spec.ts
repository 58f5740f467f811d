import type { Viewer } from '@rookery/kernel';
import { mayAdministerGroup, mayCreateProjectIn, mayCreateSubgroup, mayCreateTopLevelGroup } from './group.policy';

const makeViewer = (over: Partial<Viewer> = {}) =>
  ({ isAdmin: false, isExternal: false, isBot: false, ...over }) as Viewer;
const admin = makeViewer({ isAdmin: true });
const LEVELS = [0, 10, 15, 20, 30, 40, 50];
const allowedFromLevel = (needed: number) => LEVELS.map((level) => level >= needed);

describe('permissions', () => {
  it('administering a group requires owners', () => {
    expect(LEVELS.map((level) => mayAdministerGroup(makeViewer(), { level }))).toEqual(allowedFromLevel(50));
    expect(mayAdministerGroup(admin, { level: 0 })).toBe(true);
  });

  it.each([
    ['maintainer', 40],
    ['owner', 50],
  ])('creating a subgroup with the setting %s requires level %i', (setting, needed) => {
    expect(LEVELS.map((level) => mayCreateSubgroup(makeViewer(), level, setting))).toEqual(allowedFromLevel(needed));
    expect(mayCreateSubgroup(admin, 0, setting)).toBe(true);
  });

  it.each([
    ['developer', 30],
    ['maintainer', 40],
    ['owner', 50],
    ['administrator', 99],
    ['noone', 99],
    ['something new', 99],
  ])('creating a project with the setting %s requires level %i', (setting, needed) => {
    expect(LEVELS.map((level) => mayCreateProjectIn(makeViewer(), level, setting))).toEqual(allowedFromLevel(needed));
    expect(mayCreateProjectIn(admin, 0, setting)).toBe(true);
  });

  it('creating a top-level group requires a user with the permission, who is neither external nor a bot', () => {
    const yes = { can_create_group: true };
    expect(mayCreateTopLevelGroup(makeViewer(), yes)).toBe(true);
    expect(mayCreateTopLevelGroup(makeViewer(), { can_create_group: false })).toBe(false);
    expect(mayCreateTopLevelGroup(makeViewer({ isExternal: true }), yes)).toBe(false);
    expect(mayCreateTopLevelGroup(makeViewer({ isBot: true }), yes)).toBe(false);
  });
});
