import { resolveEventCauseTime } from './subjects';

const event = { time: '2026-11-21T10:00:00.000Z' };

test.each([
  ['2026-11-21T09:59:59.900Z', '2026-11-21T09:59:59.900Z'],
  ['2026-11-21T10:00:00.100Z', '2026-11-21T10:00:00.100Z'],
  ['2020-01-01T00:00:00.000Z', event.time],
  ['2099-01-01T00:00:00.000Z', event.time],
])('resolveEventCauseTime for the stated time %s returns %s', (stated, at) =>
  expect(resolveEventCauseTime(event, stated)).toBe(at),
);
