import type { Viewer } from '@rookery/kernel';
import { mayAdministerGroup, mayCreateProjectIn, mayCreateSubgroup, mayCreateTopLevelGroup } from './group.policy';

const viewer = (over: Partial<Viewer> = {}) => ({ isAdmin: false, isExternal: false, isBot: false, ...over }) as Viewer;
const admin = viewer({ isAdmin: true });
const LEVELS = [0, 10, 15, 20, 30, 40, 50];
const from = (needed: number) => LEVELS.map((level) => level >= needed);

describe('who may', () => {
  it('administer a group: owners', () => {
    expect(LEVELS.map((level) => mayAdministerGroup(viewer(), { level }))).toEqual(from(50));
    expect(mayAdministerGroup(admin, { level: 0 })).toBe(true);
  });

  it.each([
    ['maintainer', 40],
    ['owner', 50],
  ])('make a subgroup where %s is needed: from %i', (setting, needed) => {
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
  ])('make a project where %s is needed: from %i', (setting, needed) => {
    expect(LEVELS.map((level) => mayCreateProjectIn(viewer(), level, setting))).toEqual(from(needed));
    expect(mayCreateProjectIn(admin, 0, setting)).toBe(true);
  });

  it('make a top-level group: people who were not refused it, no outsiders, no bots', () => {
    const yes = { can_create_group: true };
    expect(mayCreateTopLevelGroup(viewer(), yes)).toBe(true);
    expect(mayCreateTopLevelGroup(viewer(), { can_create_group: false })).toBe(false);
    expect(mayCreateTopLevelGroup(viewer({ isExternal: true }), yes)).toBe(false);
    expect(mayCreateTopLevelGroup(viewer({ isBot: true }), yes)).toBe(false);
  });
});
