import { GitBusy } from './git-error';
import { ProcessSlots } from './process-slots';

const LIMITS = { total: 2, perRepository: 1, queued: 2, waitMs: 60_000 };

describe('slots', () => {
  it('are limited by repository and in total, and a full repository holds up no other', async () => {
    const slots = new ProcessSlots(LIMITS);
    const order: string[] = [];
    const freeA = await slots.takeSlot('a');
    const secondA = slots.takeSlot('a').then((free) => (order.push('a'), free));
    const freeB = await slots.takeSlot('b');
    const waitingC = slots.takeSlot('c').then((free) => (order.push('c'), free));
    expect(slots.load).toEqual({ running: 2, waiting: 2 });
    freeB();
    freeB();
    const freeC = await waitingC;
    freeA();
    (await secondA)();
    freeC();
    expect(order).toEqual(['c', 'a']);
    expect(slots.load).toEqual({ running: 0, waiting: 0 });
  });

  it('refuse when the queue is full, after a wait, and on abort', async () => {
    const slots = new ProcessSlots({ ...LIMITS, queued: 1, waitMs: 1 });
    const free = await slots.takeSlot('a');
    const late = slots.takeSlot('a');
    await expect(slots.takeSlot('a')).rejects.toThrow(GitBusy);
    await expect(late).rejects.toMatchObject({ reason: 'busy', retryAfterSeconds: 2 });
    const ending = new AbortController();
    const aborted = new ProcessSlots(LIMITS);
    const held = await aborted.takeSlot('a');
    const waiting = aborted.takeSlot('a', { signal: ending.signal });
    ending.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(aborted.takeSlot('b', { signal: ending.signal })).rejects.toThrow('gone');
    expect(aborted.load.waiting).toBe(0);
    free();
    held();
  });

  it('are not given to a caller whose client has left, who does not fill the queue either', async () => {
    const slots = new ProcessSlots({ ...LIMITS, total: 1, queued: 2 });
    const gone = new Set<string>();
    const held = await slots.takeSlot('a');
    const take = (name: string) =>
      slots.takeSlot(name, { isGone: () => gone.has(name) }).then((free) => (free(), name));
    const [left, full] = [take('left'), take('full')];
    gone.add('full');
    const next = take('next');
    await expect(full).rejects.toThrow(GitBusy);
    gone.add('left');
    held();
    await expect(left).rejects.toThrow('disconnected');
    expect(await next).toBe('next');
    expect(slots.load).toEqual({ running: 0, waiting: 0 });
  });
});
