import { DirectoryFloor } from './directory-floor';

const markAt = (version: number, epoch = 'e') => ({ version, epoch });

describe('DirectoryFloor', () => {
  let floor: DirectoryFloor;
  beforeEach(() => {
    floor = new DirectoryFloor();
    floor.observe(markAt(10), 0);
  });

  it('only rises', () => {
    floor.observe(markAt(8), 1);
    floor.raise(9);
    expect(floor.current).toEqual(markAt(10));
    floor.raise(12);
    expect(floor.current).toEqual(markAt(12));
  });

  it('does not cover checks older than a write through this gateway until the push has caught up', () => {
    expect(floor.covers(markAt(10))).toBe(true);
    floor.raise(12);
    expect(floor.covers(markAt(11))).toBe(false);
    expect(floor.covers(markAt(12))).toBe(true);
    floor.push(11, false);
    expect(floor.covers(markAt(11))).toBe(false);
    floor.push(12, false);
    expect(floor.covers(markAt(10))).toBe(true);
  });

  it('records a write whose version another answer reported first', () => {
    floor.observe(markAt(12), 1);
    const { invalidations } = floor;
    floor.raise(12);
    expect(floor.covers(markAt(11))).toBe(false);
    expect(floor.invalidations).toBe(invalidations + 1);
    floor.raise(12);
    expect(floor.invalidations).toBe(invalidations + 1);
  });

  it('starts over with a new epoch', () => {
    floor.raise(50);
    expect(floor.observe(markAt(3, 'f'), 7)).toBe(false);
    expect(floor.current).toEqual(markAt(3, 'f'));
    expect(floor.covers(markAt(50))).toBe(false);
    expect(floor.covers(markAt(3, 'f'))).toBe(true);
    expect(floor.age(10)).toBe(3);
  });
});
