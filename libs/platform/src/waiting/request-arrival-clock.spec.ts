import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { RequestArrivalClock } from './request-arrival-clock';

const heartbeat = new RequestArrivalClock();
afterAll(() => heartbeat.stop());

function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Waits until requests read now arrived after `time`. */
async function waitUntilArrivalAfter(time: number): Promise<void> {
  while (heartbeat.earliestArrival() <= time) await pause(10);
}

it('advances with time', async () => {
  await waitUntilArrivalAfter(performance.now());
  expect(heartbeat.earliestArrival()).toBeLessThanOrEqual(performance.now());
});

it('dates requests read after a standstill before it, until all of them were read', async () => {
  const stoodFrom = performance.now();
  blockEventLoop(700);
  expect(heartbeat.earliestArrival()).toBeLessThanOrEqual(stoodFrom);
  // Connections that arrived meanwhile are accepted in this turn, and read in the next.
  await turn();
  await turn();
  expect(heartbeat.earliestArrival()).toBeLessThanOrEqual(stoodFrom);
  await waitUntilArrivalAfter(stoodFrom);
});

/** Opens many connections and sends over each a request with its time of sending. */
const CLIENT = `
  const { connect } = require('node:net');
  const { workerData } = require('node:worker_threads');
  for (let one = 0; one < workerData.count; one += 1) {
    const socket = connect(workerData.port, '127.0.0.1');
    socket.on('error', () => undefined).on('data', () => socket.destroy());
    socket.once('connect', () => {
      const sentAt = performance.timeOrigin + performance.now();
      socket.write('GET /?' + sentAt + ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n');
    });
  }`;

it('knows the age of connections that are accepted one a turn, when turns are slow', async () => {
  const COUNT = 40;
  /** Difference between the computed and the real arrival of each request. Units: milliseconds. */
  const late: number[] = [];
  const server = createServer((request, response) => {
    const sentAt = Number(request.url!.slice(2)) - performance.timeOrigin;
    late.push(heartbeat.earliestArrival(request.socket) - sentAt);
    blockEventLoop(30);
    response.end();
  });
  heartbeat.watchServer(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new Worker(CLIENT, { eval: true, workerData: { port, count: COUNT } });
  try {
    await new Promise((resolve) => client.once('online', resolve));
    blockEventLoop(700);
    while (late.length < COUNT) await pause(10);
    // Two threads read one clock with two origins.
    expect(Math.max(...late)).toBeLessThan(5);
  } finally {
    await client.terminate();
    server.closeAllConnections();
    server.close();
  }
});

it('beats seldom with few requests, and still dates the first request within a second', () => {
  jest.useFakeTimers();
  const resting = new RequestArrivalClock();
  try {
    jest.advanceTimersByTime(60_000);
    const set = jest.spyOn(globalThis, 'setTimeout');
    jest.advanceTimersByTime(3000);
    expect(set.mock.calls).toHaveLength(10);
    expect(performance.now() - resting.earliestArrival()).toBeLessThan(1000);
    // Followers of a log poll twice a second.
    for (let second = 0; second < 30; second += 1) {
      set.mockClear();
      resting.earliestArrival();
      resting.earliestArrival();
      jest.advanceTimersByTime(1000);
      expect(set.mock.calls.length).toBeLessThan(5);
    }
    for (let request = 0; request < 20; request += 1) resting.earliestArrival();
    set.mockClear();
    jest.advanceTimersByTime(3000);
    expect(set.mock.calls.length).toBeGreaterThan(25);
  } finally {
    resting.stop();
    jest.useRealTimers();
    jest.restoreAllMocks();
  }
});
