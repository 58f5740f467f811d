import { makeViewer } from '@rookery/testing';
import { isInvitedGroupAtOrAbove, isOutsideClosedHierarchy, mayGrantShareLevel } from './share.policy';

describe('sharing', () => {
  it.each([
    [40, 40, false, true],
    [40, 50, false, false],
    [50, 50, false, true],
    [0, 50, true, true],
  ])('at level %i by a user with level %i', (level, wanted, isAdmin, may) => {
    expect(mayGrantShareLevel(makeViewer({ isAdmin }), { level }, wanted)).toBe(may);
  });

  it('stays within a closed hierarchy, and only there', () => {
    const inside = { id: 3, traversalIds: [1, 3] };
    const outside = { id: 9, traversalIds: [9] };
    expect(isOutsideClosedHierarchy({ traversalIds: [1, 2], isClosed: true }, inside)).toBe(false);
    expect(isOutsideClosedHierarchy({ traversalIds: [1, 2], isClosed: true }, outside)).toBe(true);
    expect(isOutsideClosedHierarchy({ traversalIds: [1, 2], isClosed: false }, outside)).toBe(false);
  });

  it('has no effect with the group itself and those above, but with those below', () => {
    expect([1, 2, 3].map((id) => isInvitedGroupAtOrAbove({ traversalIds: [1, 2] }, { id }))).toEqual([
      true,
      true,
      false,
    ]);
  });
});
