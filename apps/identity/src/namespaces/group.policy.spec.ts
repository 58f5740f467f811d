import type { Viewer } from '@rookery/kernel';
import { mayAdministerGroup, mayCreateProjectIn, mayCreateSubgroup, mayCreateTopLevelGroup } from './group.policy';

const viewer = (over: Partial<Viewer> = {}) => ({ isAdmin: false, isExternal: false, isBot: false, ...over }) as Viewer;
const admin = viewer({ isAdmin: true });
const LEVELS = [0, 10, 15, 20, 30, 40, 50];
const from = (needed: number) => LEVELS.map((level) => level >= needed);

describe('permissions', () => {
  it('administering a group requires owners', () => {
    expect(LEVELS.map((level) => mayAdministerGroup(viewer(), { level }))).toEqual(from(50));
    expect(mayAdministerGroup(admin, { level: 0 })).toBe(true);
  });

  it.each([
    ['maintainer', 40],
    ['owner', 50],
  ])('creating a subgroup with the setting %s requires level %i', (setting, needed) => {
    expect(LEVELS.map((level) => mayCreateSubgroup(viewer(), level, setting))).toEqual(from(needed));
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
    expect(LEVELS.map((level) => mayCreateProjectIn(viewer(), level, setting))).toEqual(from(needed));
    expect(mayCreateProjectIn(admin, 0, setting)).toBe(true);
  });

  it('creating a top-level group requires a user with the permission, who is neither external nor a bot', () => {
    const yes = { can_create_group: true };
    expect(mayCreateTopLevelGroup(viewer(), yes)).toBe(true);
    expect(mayCreateTopLevelGroup(viewer(), { can_create_group: false })).toBe(false);
    expect(mayCreateTopLevelGroup(viewer({ isExternal: true }), yes)).toBe(false);
    expect(mayCreateTopLevelGroup(viewer({ isBot: true }), yes)).toBe(false);
  });
});
