import type { Database, PreparedStatement } from '@rookery/persistence';
import { HeadWatch } from '@rookery/persistence';
import { ShutdownOrder } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { INSTANCE_HEAD, InstanceConfigService } from './instance.service';

const silent = { info: () => undefined, warn: () => undefined } as unknown as Logger;
const never = new AbortController().signal;

let version: number;
let isAway: boolean;
let reads: number;
let instance: InstanceConfigService;
beforeEach(() => {
  version = 5;
  isAway = false;
  reads = 0;
  const database = {
    prepared: (statement: PreparedStatement) => {
      if (isAway) return Promise.reject(new Error('away'));
      if (statement !== INSTANCE_HEAD) reads += 1;
      return Promise.resolve([{ version, epoch: '', features: {}, settings: { of: version } }]);
    },
  } as unknown as Database;
  const watch = new HeadWatch(database, new ShutdownOrder(silent), INSTANCE_HEAD, { busyMs: 20, calmMs: 20 });
  instance = new InstanceConfigService(database, watch);
});

it('repeats the last answer after reading only the version', async () => {
  await instance.waitForChange(5, 200, never);
  const before = reads;
  for (let turn = 0; turn < 3; turn += 1)
    expect(await instance.waitForChange(5, 200, never)).toMatchObject({ version: 5, settings: { of: 5 } });
  expect(reads).toBe(before);
});

it('answers with changes, and with the contents of a restored database', async () => {
  await instance.waitForChange(5, 200, never);
  version = 6;
  expect(await instance.waitForChange(5, 5000, never)).toMatchObject({ version: 6, settings: { of: 6 } });
  version = 3;
  expect(await instance.waitForChange(6, 5000, never)).toMatchObject({ version: 3, settings: { of: 3 } });
  expect(await instance.waitForChange(3, 200, never)).toMatchObject({ version: 3, settings: { of: 3 } });
});

it('answers nothing that was not read while the request waited', async () => {
  await instance.waitForChange(5, 200, never);
  isAway = true;
  await expect(instance.waitForChange(5, 200, never)).rejects.toThrow('away');
});
