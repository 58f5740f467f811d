import { Pace } from './pace';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('polls often while there is work, and seldom ten seconds after the last', () => {
  const pace = new Pace(200, 1000);
  expect(pace.restMs).toBe(200);
  jest.advanceTimersByTime(9999);
  expect(pace.restMs).toBe(200);
  jest.advanceTimersByTime(1);
  expect(pace.restMs).toBe(1000);
  pace.recordWork();
  expect(pace.restMs).toBe(200);
});

it('never polls more often when calm', () => {
  const pace = new Pace(5000, 1000);
  jest.advanceTimersByTime(10_000);
  expect(pace.restMs).toBe(5000);
});
