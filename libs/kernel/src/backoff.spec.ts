import { backoffMs } from './backoff';

it('doubles with each failure, up to its bound', () => {
  const waits = [0, 1, 2, 3, 4, 5, 1000].map((failures) => backoffMs(failures, { first: 100, most: 500 }));
  expect(waits).toEqual([100, 100, 200, 400, 500, 500, 500]);
});
