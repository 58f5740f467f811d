import { createLogger, Metrics, Outages } from '@rookery/platform';
import { Tally } from '../metrics/tally';
import { LoadShedding } from './load-shedding';

describe('LoadShedding', () => {
  let shedding: LoadShedding;
  beforeEach(() => {
    const metrics = new Metrics();
    const outages = new Outages(metrics, createLogger({ service: 'gateway', level: 'silent' }));
    shedding = new LoadShedding({ inFlight: 400, loopDelayMs: 100, heapPercent: 85 }, new Tally(metrics, outages));
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

  it.each([
    ['a slow loop', { loopDelayMs: 101, heapPercent: 0 }],
    ['a full heap', { loopDelayMs: 0, heapPercent: 86 }],
  ])('gives up one class more each second of %s, and takes them back', (_, strain) => {
    const order = ['anonymous list', 'list', 'read', 'write'];
    expect(given()).toEqual([]);
    for (let second = 1; second <= 6; second += 1) {
      shedding.feel(strain);
      expect(given()).toEqual(order.slice(0, Math.min(second, 4)));
    }
    for (let second = 3; second >= 0; second -= 1) {
      shedding.feel({ loopDelayMs: 100, heapPercent: 85 });
      expect(given()).toEqual(order.slice(0, second));
    }
  });
});
