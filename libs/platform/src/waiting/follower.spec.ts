import { Follower } from './follower';
import type { Logger } from '../observability/logger';

let lines: string[];
let other: 'away' | 'there';
let follower: Follower;
beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  const log = (level: string) => (_facts: object, text: string) => void lines.push(`${level}: ${text}`);
  const logger = { info: log('info'), warn: log('warn') } as unknown as Logger;
  follower = new Follower('the copy', logger, () =>
    other === 'there' ? Promise.resolve(false) : Promise.reject(new Error('away')),
  );
});
afterEach(async () => {
  const ended = follower.stop();
  await jest.advanceTimersByTimeAsync(1);
  await ended;
  jest.useRealTimers();
});

it('does not warn of a source that starts at the same time', async () => {
  other = 'away';
  follower.start();
  await jest.advanceTimersByTimeAsync(15_000);
  expect(lines).toEqual(['info: the copy does not follow yet']);
});

it('warns once of a source that never becomes reachable', async () => {
  other = 'away';
  follower.start();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(lines).toEqual(['info: the copy does not follow yet', 'warn: the copy cannot follow']);
});

it('warns at once of a source that becomes unreachable', async () => {
  other = 'there';
  follower.start();
  await jest.advanceTimersByTimeAsync(100);
  other = 'away';
  await jest.advanceTimersByTimeAsync(100);
  expect(lines).toEqual(['warn: the copy cannot follow']);
  other = 'there';
  await jest.advanceTimersByTimeAsync(3000);
  expect(lines).toEqual(['warn: the copy cannot follow', 'info: the copy follows again']);
});
