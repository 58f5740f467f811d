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
  const refused = (): string[] =>
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

  it('ignores requests whose bodies are still being sent and those that wait in fair queues', () => {
    tally.inFlight = 900;
    tally.collecting = 400;
    tally.lines.push({ waiting: 400 });
    expect(refused()).toEqual([]);
    tally.collecting = 0;
    expect(refused()).not.toEqual([]);
  });

  it('refuses one more class for each second with a full heap, and accepts them again', () => {
    const order = ['anonymous list', 'list', 'read', 'write'];
    expect(refused()).toEqual([]);
    for (let second = 1; second <= 6; second += 1) {
      shedding.adapt(86);
      expect(refused()).toEqual(order.slice(0, Math.min(second, 4)));
    }
    for (let second = 3; second >= 0; second -= 1) {
      shedding.adapt(85);
      expect(refused()).toEqual(order.slice(0, second));
    }
  });

  /** A second with 20 answers, of which `late` took 3 of 10 seconds. */
  const second = (late: number): void => {
    for (let one = 0; one < 20; one += 1) tally.concurrency!.recordAnswer(one < late ? 3000 : 5, 10_000);
    shedding.adapt(0);
  };

  it('lowers the limit while answers are late, and raises it again afterwards', () => {
    tally.inFlight = 250;
    for (let seconds = 0; seconds < 3; seconds += 1) second(2);
    expect(refused()).toEqual([]);
    for (let seconds = 0; seconds < 3; seconds += 1) second(3);
    expect(tally.concurrency!.current).toBeCloseTo(400 * 0.9 ** 3);
    expect(refused()).toEqual(['anonymous list', 'list']);
    for (let seconds = 0; seconds < 14; seconds += 1) {
      refused();
      second(0);
    }
    expect(tally.concurrency!.current).toBe(400);
    expect(refused()).toEqual([]);
  });

  it('accepts 64 requests in flight however late answers are', () => {
    for (let seconds = 0; seconds < 60; seconds += 1) second(20);
    tally.inFlight = 64;
    expect(refused()).toEqual([]);
    tally.inFlight = 93;
    expect(refused()).toEqual(['anonymous list', 'list', 'read', 'write']);
  });

  it('ignores seconds with few answers, and raises the limit only while it is used', () => {
    for (let seconds = 0; seconds < 60; seconds += 1) second(20);
    const { current } = tally.concurrency!;
    for (let one = 0; one < 9; one += 1) tally.concurrency!.recordAnswer(9000, 10_000);
    tally.inFlight = 20;
    refused();
    shedding.adapt(0);
    expect(tally.concurrency!.current).toBe(current);
  });
});
