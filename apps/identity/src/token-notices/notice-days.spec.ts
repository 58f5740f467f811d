import { noticesPassed } from './notice-days';

describe('notices of the end of a token', () => {
  it.each([
    [365, 0],
    [61, 0],
    [60, 1],
    [31, 1],
    [30, 2],
    [8, 2],
    [7, 3],
    [1, 3],
    [0, 4],
    [-5, 4],
  ])('with %i days left %i are behind it', (daysLeft, passed) => expect(noticesPassed(daysLeft)).toBe(passed));
});
