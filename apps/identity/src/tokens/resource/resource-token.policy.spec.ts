import { makeViewer } from '@rookery/testing';
import { mayGrantTokenLevel, mayMakeTokens, mayManageTokens } from './resource-token.policy';

const viewer = makeViewer();
const bot = makeViewer({ isBot: true });
const admin = makeViewer({ isAdmin: true });

describe('tokens of groups and projects', () => {
  it.each([
    ['group', 50, true],
    ['group', 40, false],
    ['project', 40, true],
    ['project', 30, false],
  ] as const)('of a %s with level %i: %s', (type, level, may) => {
    expect(mayManageTokens(viewer, { type, level })).toBe(may);
    expect(mayMakeTokens(viewer, { type, level })).toBe(may);
    expect(mayManageTokens(admin, { type, level: 0 })).toBe(true);
  });

  it('cannot be created by bots below owner', () => {
    expect(mayMakeTokens(bot, { type: 'project', level: 40 })).toBe(false);
    expect(mayMakeTokens(bot, { type: 'project', level: 50 })).toBe(true);
    expect(mayManageTokens(bot, { type: 'project', level: 40 })).toBe(true);
  });

  it('cannot have a level above that of the caller', () => {
    expect(mayGrantTokenLevel(viewer, { level: 40 }, 40)).toBe(true);
    expect(mayGrantTokenLevel(viewer, { level: 40 }, 50)).toBe(false);
    expect(mayGrantTokenLevel(admin, { level: 0 }, 50)).toBe(true);
  });
});
