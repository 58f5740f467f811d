import { UNAVAILABLE_REASONS } from '@rookery/kernel';
import { Metrics } from './metrics';
import { Outages } from './outages';

describe('Outages', () => {
  const lines: object[] = [];
  const metrics = new Metrics();
  let outages: Outages;

  beforeEach(() => {
    jest.useFakeTimers();
    lines.length = 0;
    outages ??= new Outages(metrics, {
      info: () => undefined,
      warn: (facts) => void lines.push(facts as object),
    });
  });
  afterEach(() => jest.useRealTimers());

  it('counts each answer by its reason, and reports other reasons as 0', async () => {
    for (let one = 0; one < 3; one += 1) outages.recordOutage('database busy');
    outages.recordOutage('deadline');
    const { body } = await metrics.text();
    expect(body).toContain('rookery_unavailable_total{reason="database busy"} 3\n');
    expect(body).toContain('rookery_unavailable_total{reason="deadline"} 1\n');
    expect(body).toContain('rookery_unavailable_total{reason="shed"} 0\n');
    const shown = [...body.matchAll(/rookery_unavailable_total\{reason="([^"]+)"/g)].map(([, reason]) => reason);
    expect(shown).toEqual(Object.keys(UNAVAILABLE_REASONS));
    jest.advanceTimersByTime(5000);
  });

  it('logs the first at once, then one line a second for each reason with the omitted number, then nothing', () => {
    const error = new Error('refused');
    outages.recordOutage('identity away', { requestId: 'r1', err: error });
    outages.recordOutage('identity away', { requestId: 'r2' });
    outages.recordOutage('identity away', { requestId: 'r3' });
    outages.recordOutage('shed');
    expect(lines).toEqual([{ requestId: 'r1', err: error, reason: 'identity away' }, { reason: 'shed' }]);
    jest.advanceTimersByTime(1000);
    expect(lines.slice(2)).toEqual([{ reason: 'identity away', leftOut: 2 }]);
    outages.recordOutage('identity away');
    expect(lines).toHaveLength(3);
    jest.advanceTimersByTime(1000);
    expect(lines.slice(3)).toEqual([{ reason: 'identity away', leftOut: 1 }]);
    jest.advanceTimersByTime(10_000);
    expect(lines).toHaveLength(4);
    outages.recordOutage('identity away', { requestId: 'r9' });
    expect(lines[4]).toEqual({ requestId: 'r9', reason: 'identity away' });
  });
});
