import type { InstanceAnswer } from '@rookery/contracts';
import { createLogger, Readiness } from '@rookery/platform';
import type { AdminClient } from './admin-client';
import { InstanceSettings } from './instance';
import { InstanceSettingsPoller } from './instance-settings-poller';
import type { InstanceAnswerStore } from './instance-answer-store';

const KEPT: InstanceAnswer = { version: 4, features: {}, settings: {} };

describe('the copy of features and settings', () => {
  it('asks without a wait when a process starts, and then long-polls for changes', async () => {
    const asked: { after: number; waitMs: number }[] = [];
    let askedOften = (): void => undefined;
    const enough = new Promise<void>((resolve) => (askedOften = resolve));
    const admin = {
      fetchInstance: (after: number, waitMs: number) => {
        if (asked.push({ after, waitMs }) === 3) askedOften();
        return Promise.resolve(KEPT);
      },
      close: () => Promise.resolve(),
    } as unknown as AdminClient;
    const kept = {
      readAnswer: () => Promise.resolve(KEPT),
      keepAnswer: () => Promise.resolve(),
    } as unknown as InstanceAnswerStore;
    const instance = new InstanceSettings({} as ConstructorParameters<typeof InstanceSettings>[0]);
    const logger = createLogger({ service: 'test', level: 'silent' });
    const readiness = new Readiness();
    const copy = new InstanceSettingsPoller(instance, admin, kept, readiness, logger);
    await copy.onApplicationBootstrap();
    await enough;
    await copy.onModuleDestroy();
    expect(asked).toEqual([
      { after: 4, waitMs: 0 },
      { after: 4, waitMs: 3000 },
      { after: 4, waitMs: 3000 },
    ]);
    expect(await readiness.runChecks()).toMatchObject({ ready: true });
  });
});
