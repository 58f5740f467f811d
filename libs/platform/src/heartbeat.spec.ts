import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { Heartbeat } from './heartbeat';

const heartbeat = new Heartbeat();
afterAll(() => heartbeat.stop());

/** Until a time is past for what is read now. */
async function goesBeyond(time: number): Promise<void> {
  while (heartbeat.earliestArrival <= time) await pause(10);
}

it('goes on with the time', async () => {
  await goesBeyond(performance.now());
  expect(heartbeat.earliestArrival).toBeLessThanOrEqual(performance.now());
});

it('takes what is read after a standstill for as old as that, until all of it was read', async () => {
  const stoodFrom = performance.now();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
  expect(heartbeat.earliestArrival).toBeLessThanOrEqual(stoodFrom);
  // The connections that came meanwhile are taken in this turn, and read from in the next.
  await turn();
  await turn();
  expect(heartbeat.earliestArrival).toBeLessThanOrEqual(stoodFrom);
  await goesBeyond(stoodFrom);
});
