import { TooManyRequests } from '@rookery/kernel';
import { FairSemaphore, concurrencyLimitsOf } from './fair-places';
import type { LimitedCaller } from './fair-places';

const named = { name: 'places', setting: null };
const QUEUE = { named, waiting: 16, waitingOfOneCaller: 16, waitingPart: 0.2 };
const PATIENT = Date.now() + 600_000;
const callerOf = (userId: number | null, over: Partial<LimitedCaller> = {}): LimitedCaller => ({
  userId,
  impersonatorId: null,
  creatorId: null,
  address: null,
  deadline: PATIENT,
  ...over,
});

/** Starts requests, ends each on demand, and records the order in which they began. */
class RecordedRequests {
  readonly begun: string[] = [];
  private readonly ends = new Map<string, () => void>();
  constructor(private readonly places: FairSemaphore) {}

  send(name: string, asking: LimitedCaller): Promise<string> {
    return this.places.run(asking, async () => {
      this.begun.push(name);
      await new Promise<void>((resolve) => this.ends.set(name, resolve));
      return name;
    });
  }

  async end(name: string): Promise<void> {
    this.ends.get(name)!();
    // Queued requests begin within a few turns of the event loop.
    await new Promise(setImmediate);
  }
}

describe('costly requests', () => {
  it('use part of the connections, and each caller part of these', () => {
    expect(concurrencyLimitsOf(10)).toMatchObject({
      costly: { count: 4, ofOneCaller: 2 },
      heavy: { count: 2, ofOneCaller: 1 },
    });
    expect(concurrencyLimitsOf(1)).toMatchObject({
      costly: { count: 1, ofOneCaller: 1 },
      heavy: { count: 1, ofOneCaller: 1 },
    });
  });

  it('wait behind those of their own caller, while others go on', async () => {
    const requests = new RecordedRequests(new FairSemaphore({ ...QUEUE, count: 3, ofOneCaller: 2 }));
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => requests.send(name, callerOf(1)));
    expect(requests.begun).toEqual(['a1', 'a2']);
    all.push(requests.send('b1', callerOf(2)));
    expect(requests.begun).toEqual(['a1', 'a2', 'b1']);
    await requests.end('a1');
    expect(requests.begun).toEqual(['a1', 'a2', 'b1', 'a3']);
    for (const name of ['a2', 'a3', 'b1', 'a4']) await requests.end(name);
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  it('leave the queue when their caller has left', async () => {
    const places = new FairSemaphore({ ...QUEUE, count: 1, ofOneCaller: 1 });
    const requests = new RecordedRequests(places);
    const leaving: (() => void)[] = [];
    const first = requests.send('a1', callerOf(1));
    const gone = requests.send('a2', callerOf(1, { onGone: (leave) => leaving.push(leave) }));
    const third = requests.send('a3', callerOf(1, { onGone: (leave) => leaving.push(leave) }));
    expect(places.waiting).toBe(2);
    leaving[0]!();
    await expect(gone).rejects.toThrow(TooManyRequests);
    expect(places.waiting).toBe(1);
    await requests.end('a1');
    expect(requests.begun).toEqual(['a1', 'a3']);
    for (const leave of leaving) leave();
    expect(places.waiting).toBe(0);
    await requests.end('a3');
    expect(await Promise.all([first, third])).toEqual(['a1', 'a3']);
  });

  it('that are refused by a full queue remove no other request from it', async () => {
    const places = new FairSemaphore({ ...QUEUE, count: 1, ofOneCaller: 1, waitingOfOneCaller: 1 });
    const requests = new RecordedRequests(places);
    const all = ['a1', 'a2'].map((name) => requests.send(name, callerOf(1)));
    await expect(requests.send('a3', callerOf(1, { onGone: (leave) => leave() }))).rejects.toThrow(TooManyRequests);
    expect(places.waiting).toBe(1);
    for (const name of ['a1', 'a2']) await requests.end(name);
    expect(await Promise.all(all)).toEqual(['a1', 'a2']);
  });

  it('take turns by caller, and in order within one', async () => {
    const requests = new RecordedRequests(new FairSemaphore({ ...QUEUE, count: 1, ofOneCaller: 1 }));
    const all = [
      ...['a1', 'a2', 'a3'].map((name) => requests.send(name, callerOf(1))),
      ...['b1', 'b2'].map((name) => requests.send(name, callerOf(2))),
      requests.send('c1', callerOf(null, { address: '10.0.0.1' })),
    ];
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await requests.end(name);
    await Promise.all(all);
    expect(requests.begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('count for the user behind them, or for an address', async () => {
    const requests = new RecordedRequests(new FairSemaphore({ ...QUEUE, count: 9, ofOneCaller: 1 }));
    const behind = { impersonatorId: 7 };
    const all = [
      requests.send('sudo', callerOf(1, behind)),
      requests.send('sudo again', callerOf(2, behind)),
      requests.send('bot', callerOf(20, { creatorId: 7 })),
      requests.send('here', callerOf(null, { address: '10.0.0.1' })),
      requests.send('here again', callerOf(null, { address: '10.0.0.1' })),
      requests.send('there', callerOf(null, { address: '10.0.0.2' })),
    ];
    expect(requests.begun).toEqual(['sudo', 'here', 'there']);
    for (const name of ['sudo', 'here', 'there', 'sudo again', 'bot', 'here again']) await requests.end(name);
    await Promise.all(all);
  });

  it('are refused when the caller has too many in the queue, or when they have waited too long', async () => {
    const requests = new RecordedRequests(new FairSemaphore({ ...QUEUE, waiting: 32, count: 1, ofOneCaller: 1 }));
    const running = requests.send('running', callerOf(1));
    const waiting = Array.from({ length: 16 }, (_, index) => requests.send(`waiting ${index}`, callerOf(1)));
    await expect(requests.send('one more', callerOf(1))).rejects.toThrow(TooManyRequests);
    await expect(requests.send('late', callerOf(2, { deadline: Date.now() + 20 }))).rejects.toThrow(TooManyRequests);
    await requests.end('running');
    for (const index of waiting.keys()) await requests.end(`waiting ${index}`);
    await Promise.all([running, ...waiting]);
    expect(requests.begun).toHaveLength(17);
  });

  it('lose the last place of a full queue to a caller with fewer requests', async () => {
    const places = new FairSemaphore({ ...QUEUE, waiting: 3, count: 1, ofOneCaller: 1 });
    const requests = new RecordedRequests(places);
    const running = requests.send('a0', callerOf(1));
    const [a1, a2, a3] = ['a1', 'a2', 'a3'].map((name) => requests.send(name, callerOf(1)));
    const lost = a3!.catch((error: unknown) => error);
    const b1 = requests.send('b1', callerOf(2));
    expect(await lost).toBeInstanceOf(TooManyRequests);
    // With two requests of one caller and one of the other, no caller would have more than the new request's caller.
    await expect(requests.send('b2', callerOf(2))).rejects.toThrow(TooManyRequests);
    expect(places.waiting).toBe(3);
    for (const name of ['a0', 'a1', 'b1', 'a2']) await requests.end(name);
    expect(await Promise.all([running, a1, a2, b1])).toEqual(['a0', 'a1', 'a2', 'b1']);
    expect(places.waiting).toBe(0);
  });

  it('free their place for other callers when the work is done, and for their own caller after settled()', async () => {
    const places = new FairSemaphore({ ...QUEUE, count: 1, ofOneCaller: 1 });
    let settle = (): void => undefined;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    const first = places.run(
      callerOf(1),
      () => 'a0',
      () => settled,
    );
    const requests = new RecordedRequests(places);
    const own = requests.send('a1', callerOf(1));
    const other = requests.send('b0', callerOf(2));
    await new Promise(setImmediate);
    expect(requests.begun).toEqual(['b0']);
    await requests.end('b0');
    expect(requests.begun).toEqual(['b0']);
    settle();
    await new Promise(setImmediate);
    await requests.end('a1');
    expect(await Promise.all([first, own, other])).toEqual(['a0', 'a1', 'b0']);
  });

  it('free their place when they fail', async () => {
    const places = new FairSemaphore({ ...QUEUE, count: 1, ofOneCaller: 1 });
    const failing = (): Promise<never> => Promise.reject(new Error('no'));
    await expect(places.run(callerOf(1), failing)).rejects.toThrow('no');
    const never = (): Promise<void> => new Promise(() => undefined);
    await expect(places.run(callerOf(1), failing, never)).rejects.toThrow('no');
    expect(await places.run(callerOf(1), () => 'free')).toBe('free');
  });
});
