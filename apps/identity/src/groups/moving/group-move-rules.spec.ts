import type { RequestedMove } from './group-move-rules';
import { placeBelow, refusalOfMove } from './group-move-rules';

const groupAtPath = (ids: number[], path: string) => ({
  id: ids.at(-1)!,
  parent_id: ids.at(-2) ?? null,
  name: path.split('/').at(-1)!,
  path: path.split('/').at(-1)!,
  full_name: path.replaceAll('/', ' / '),
  full_path: path,
  traversal_ids: ids,
});
const sub = groupAtPath([1, 2], 'one/two');
const other = groupAtPath([5], 'five');
const requestedMove = (over: Partial<RequestedMove>): RequestedMove => ({
  group: sub,
  parent: other,
  mayCreateThere: true,
  isTaken: false,
  height: 1,
  ...over,
});

describe('a move of a group', () => {
  it.each<[Partial<RequestedMove>, string | null]>([
    [{}, null],
    [{ parent: null }, null],
    [{ group: other, parent: null, mayCreateThere: false }, 'Group is already a root group.'],
    [{ parent: groupAtPath([1], 'one'), mayCreateThere: false }, 'Group is already associated to the parent group.'],
    [{ mayCreateThere: false, isTaken: true }, "You don't have enough permissions."],
    [{ isTaken: true }, 'The parent group already has a subgroup or a project with the same path.'],
    [{ parent: groupAtPath([1, 2, 3], 'one/two/three') }, 'Cannot transfer group to one of its subgroup.'],
    [{ parent: sub }, 'Cannot transfer group to one of its subgroup.'],
    [{ group: groupAtPath([1, 2], 'one/admin'), parent: null }, 'Validation failed: Path admin is a reserved name'],
    [{ group: groupAtPath([2], 'badges') }, 'Validation failed: Path badges is a reserved name'],
    [{ height: 19 }, null],
    [{ height: 20 }, 'Validation failed: Parent has too deep level of nesting'],
  ])('%j', (over, expected) => expect(refusalOfMove(requestedMove(over))).toBe(expected));

  it('changes parent, full path and full name', () => {
    expect(placeBelow(sub, other)).toEqual({ ...groupAtPath([5, 2], 'five/two'), id: undefined });
    expect(placeBelow(sub, null)).toEqual({ ...groupAtPath([2], 'two'), id: undefined });
  });
});
