import { rangeProblems } from './ip-ranges';

const INVALID = ['is an invalid IP address range'];

describe('IP ranges of a group', () => {
  it.each<[string | null | undefined, string[]]>([
    [undefined, []],
    [null, []],
    ['', []],
    ['  ', []],
    ['192.168.0.0/24', []],
    ['192.168.0.0/24, 10.0.0.1,2001:db8::/32', []],
    ['192.168.0.0/33', INVALID],
    ['2001:db8::/129', INVALID],
    ['192.168.0/24', INVALID],
    ['10.0.0.0/8/8', INVALID],
    ['10.0.0.0/', INVALID],
    ['10.0.0.1,', INVALID],
    ['example.com', INVALID],
    [Array(101).fill('10.0.0.1').join(), ['is too long (maximum is 100 ranges)']],
  ])('%j', (ranges, problems) => expect(rangeProblems(ranges, true)).toEqual(problems));

  it('are for top-level groups, which may also drop them', () => {
    expect(rangeProblems('10.0.0.1', false)).toEqual(['IP subnet restriction only allowed for top-level groups']);
    expect(rangeProblems('', false)).toEqual([]);
  });
});
