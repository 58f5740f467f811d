import { createLogger, Metrics, Outages } from '@rookery/platform';
import { Tally } from '../metrics/tally';
import { LoadShedding } from './load-shedding';

describe('LoadShedding', () => {
  let shedding: LoadShedding;
  let tally: Tally;
  beforeEach(() => {
    const metrics = new Metrics();
    const outages = new Outages(metrics, createLogger({ service: 'gateway', level: 'silent' }));
    tally = new Tally(metrics, outages);
    shedding = new LoadShedding({ inFlight: 400, heapPercent: 85 }, tally);
  });
  afterEach(() => shedding.onModuleDestroy());
  const given = (): string[] =>
    (
      [
        ['list', true],
        ['list', false],
        ['read', true],
        ['write', true],
        ['vital', true],
      ] as const
    )
      .filter(([of, anonymous]) => shedding.refusal(of, anonymous) !== null)
      .map(([of, anonymous]) => (of === 'list' && anonymous ? 'anonymous list' : of));

  it('takes no notice of bodies that clients are slow to send, nor of those who wait for their own', () => {
    tally.inFlight = 900;
    tally.collecting = 400;
    tally.lines.push({ waiting: 400 });
    expect(given()).toEqual([]);
    tally.collecting = 0;
    expect(given()).not.toEqual([]);
  });

  it('gives up one class more each second of a full heap, and takes them back', () => {
    const order = ['anonymous list', 'list', 'read', 'write'];
    expect(given()).toEqual([]);
    for (let second = 1; second <= 6; second += 1) {
      shedding.feel(86);
      expect(given()).toEqual(order.slice(0, Math.min(second, 4)));
    }
    for (let second = 3; second >= 0; second -= 1) {
      shedding.feel(85);
      expect(given()).toEqual(order.slice(0, second));
    }
  });

  /** A second in which so many answers came after 3 of 10 seconds, and 20 at once. */
  const second = (late: number): void => {
    for (let one = 0; one < 20; one += 1) tally.concurrency!.answered(one < late ? 3000 : 5, 10_000);
    shedding.feel(0);
  };

  it('takes on less while answers are late, and more again once they are not', () => {
    tally.inFlight = 250;
    for (let seconds = 0; seconds < 3; seconds += 1) second(2);
    expect(given()).toEqual([]);
    for (let seconds = 0; seconds < 3; seconds += 1) second(3);
    expect(tally.concurrency!.current).toBeCloseTo(400 * 0.9 ** 3);
    expect(given()).toEqual(['anonymous list', 'list']);
    for (let seconds = 0; seconds < 14; seconds += 1) {
      given();
      second(0);
    }
    expect(tally.concurrency!.current).toBe(400);
    expect(given()).toEqual([]);
  });

  it('lets 64 in however late answers are', () => {
    for (let seconds = 0; seconds < 60; seconds += 1) second(20);
    tally.inFlight = 64;
    expect(given()).toEqual([]);
    tally.inFlight = 93;
    expect(given()).toEqual(['anonymous list', 'list', 'read', 'write']);
  });

  it('learns nothing from a few answers, and asks for no more than is made use of', () => {
    for (let seconds = 0; seconds < 60; seconds += 1) second(20);
    const { current } = tally.concurrency!;
    for (let one = 0; one < 9; one += 1) tally.concurrency!.answered(9000, 10_000);
    tally.inFlight = 20;
    given();
    shedding.feel(0);
    expect(tally.concurrency!.current).toBe(current);
  });
});
