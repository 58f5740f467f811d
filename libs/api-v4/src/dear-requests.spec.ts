import { TooManyRequests } from '@rookery/kernel';
import { DearRequests, placesOf } from './dear-requests';
import type { Asking } from './dear-requests';

const PATIENT = Date.now() + 600_000;
const of = (userId: number | null, over: Partial<Asking> = {}): Asking => ({
  userId,
  impersonatorId: null,
  address: null,
  deadline: PATIENT,
  ...over,
});

/** Requests that end when they are told, in the order in which they began. */
class Requests {
  readonly begun: string[] = [];
  private readonly ends = new Map<string, () => void>();
  constructor(private readonly places: DearRequests) {}

  send(name: string, asking: Asking): Promise<string> {
    return this.places.run(asking, async () => {
      this.begun.push(name);
      await new Promise<void>((resolve) => this.ends.set(name, resolve));
      return name;
    });
  }

  async end(name: string): Promise<void> {
    this.ends.get(name)!();
    // What waits for it follows within some turns of the loop.
    await new Promise(setImmediate);
  }
}

describe('dear requests', () => {
  it('have a part of the connections, and callers a part of that', () => {
    expect(placesOf(10)).toEqual({ dear: { count: 4, ofOneCaller: 2 }, heavy: { count: 2, ofOneCaller: 1 } });
    expect(placesOf(1)).toEqual({ dear: { count: 1, ofOneCaller: 1 }, heavy: { count: 1, ofOneCaller: 1 } });
  });

  it('wait behind those of their own caller, while others go on', async () => {
    const requests = new Requests(new DearRequests({ count: 3, ofOneCaller: 2 }));
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => requests.send(name, of(1)));
    expect(requests.begun).toEqual(['a1', 'a2']);
    all.push(requests.send('b1', of(2)));
    expect(requests.begun).toEqual(['a1', 'a2', 'b1']);
    await requests.end('a1');
    expect(requests.begun).toEqual(['a1', 'a2', 'b1', 'a3']);
    for (const name of ['a2', 'a3', 'b1', 'a4']) await requests.end(name);
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  it('take turns by caller, and in order within one', async () => {
    const requests = new Requests(new DearRequests({ count: 1, ofOneCaller: 1 }));
    const all = [
      ...['a1', 'a2', 'a3'].map((name) => requests.send(name, of(1))),
      ...['b1', 'b2'].map((name) => requests.send(name, of(2))),
      requests.send('c1', of(null, { address: '10.0.0.1' })),
    ];
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await requests.end(name);
    await Promise.all(all);
    expect(requests.begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('are counted for the person behind them, or for an address', async () => {
    const requests = new Requests(new DearRequests({ count: 9, ofOneCaller: 1 }));
    const behind = { impersonatorId: 7 };
    const all = [
      requests.send('sudo', of(1, behind)),
      requests.send('sudo again', of(2, behind)),
      requests.send('here', of(null, { address: '10.0.0.1' })),
      requests.send('here again', of(null, { address: '10.0.0.1' })),
      requests.send('there', of(null, { address: '10.0.0.2' })),
    ];
    expect(requests.begun).toEqual(['sudo', 'here', 'there']);
    for (const name of ['sudo', 'here', 'there', 'sudo again', 'here again']) await requests.end(name);
    await Promise.all(all);
  });

  it('are refused when the caller has too many waiting, or half of their time has gone by', async () => {
    const requests = new Requests(new DearRequests({ count: 1, ofOneCaller: 1 }));
    const running = requests.send('running', of(1));
    const waiting = Array.from({ length: 16 }, (_, index) => requests.send(`waiting ${index}`, of(1)));
    await expect(requests.send('one more', of(1))).rejects.toThrow(TooManyRequests);
    await expect(requests.send('late', of(2, { deadline: Date.now() + 20 }))).rejects.toThrow(TooManyRequests);
    await requests.end('running');
    for (const index of waiting.keys()) await requests.end(`waiting ${index}`);
    await Promise.all([running, ...waiting]);
    expect(requests.begun).toHaveLength(17);
  });

  it('leave their place when they fail', async () => {
    const places = new DearRequests({ count: 1, ofOneCaller: 1 });
    const failing = (): Promise<never> => Promise.reject(new Error('no'));
    await expect(places.run(of(1), failing)).rejects.toThrow('no');
    expect(await places.run(of(1), () => 'free')).toBe('free');
  });
});
