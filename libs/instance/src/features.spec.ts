import type { FeatureGates } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { isFeatureOn } from './features';
import type { FeatureContext } from './features';

const NAME = 'packages_protected_packages_delete';
const CLOSED: FeatureGates = { boolean: false, percentage_of_time: 0, percentage_of_actors: 0, actors: [], groups: [] };
const viewer = (userId: number | null, isAdmin = false): Viewer => ({ userId, isAdmin }) as Viewer;
const isOn = (gates: Partial<FeatureGates> | undefined, asked: FeatureContext = {}, chance = 0.5): boolean =>
  isFeatureOn(NAME, gates && { ...CLOSED, ...gates }, asked, chance);

it('has its default until it is set, and is off when it was set to off', () => {
  expect([isOn(undefined), isOn({})]).toEqual([false, false]);
});

it('is on for every caller', () => {
  expect(isOn({ boolean: true })).toBe(true);
});

it.each([
  [0, 1, true],
  [0.0099, 1, true],
  [0.01, 1, false],
  [0.98, 99, true],
  [0, 0, false],
])('by time: a chance of %d with %d percent is %s', (chance, percentage_of_time, expected) => {
  expect(isOn({ percentage_of_time }, {}, chance)).toBe(expected);
});

it.each<[string, FeatureContext, boolean]>([
  ['User:5', { viewer: viewer(5) }, true],
  ['User:5', { viewer: viewer(55) }, false],
  ['User:5', { projectId: 5 }, false],
  ['Project:7', { viewer: viewer(5), projectId: 7 }, true],
  ['Group:9', { groupId: 9 }, true],
  ['Group:9', {}, false],
  ['User:null', { viewer: viewer(null) }, false],
])('gate %s, checked for %j: %s', (actor, asked, expected) => {
  expect(isOn({ actors: [actor] }, asked)).toBe(expected);
});

it('applies to the group of administrators', () => {
  const groups = ['administrators'];
  expect([isOn({ groups }, { viewer: viewer(1, true) }), isOn({ groups }, { viewer: viewer(1) })]).toEqual([
    true,
    false,
  ]);
  expect(isOn({}, { viewer: viewer(1, true) })).toBe(false);
});

it('selects that share of the actors, always the same ones, and only adds actors as it grows', () => {
  const inside = (percentage: number): number[] =>
    Array.from({ length: 4000 }, (_, index) => index).filter((projectId) =>
      isOn({ percentage_of_actors: percentage }, { projectId }),
    );
  const [none, few, many] = [inside(0), inside(20), inside(60)];
  expect(none).toEqual([]);
  expect(Math.abs(few.length / 40 - 20)).toBeLessThan(4);
  expect(Math.abs(many.length / 40 - 60)).toBeLessThan(4);
  expect(few.every((projectId) => many.includes(projectId))).toBe(true);
  expect(inside(20)).toEqual(few);
});
