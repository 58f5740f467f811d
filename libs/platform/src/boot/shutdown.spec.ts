import { createLogger } from '../observability/logger';
import { shutDown, ShutdownOrder } from './shutdown';

describe('shutdown order', () => {
  const order = (): ShutdownOrder => new ShutdownOrder(createLogger({ service: 'test', level: 'silent' }));

  it('runs the phases in order and closes the latest first', async () => {
    const shutdown = order();
    const ran: string[] = [];
    const step = (name: string) => async (): Promise<void> => {
      await new Promise(setImmediate);
      ran.push(name);
    };
    shutdown.addStep('close', 'pool', step('pool'));
    shutdown.addStep('close', 'application', step('application'));
    shutdown.addStep('drain', 'requests', step('requests'));
    shutdown.addStep('drain', 'consumers', step('consumers'));
    shutdown.addStep('stop-accepting', 'listener', step('listener'));
    shutdown.addStep('announce', 'answers', step('answers'));
    expect(await Promise.all([shutdown.runAnnouncement(), shutdown.runAnnouncement()])).toEqual([true, true]);
    expect(shutdown.hasBegun).toBe(false);
    expect(await Promise.all([shutdown.runAll(), shutdown.runAll()])).toEqual([true, true]);
    expect(ran).toEqual(['answers', 'listener', 'requests', 'consumers', 'application', 'pool']);
    expect(shutdown.hasBegun).toBe(true);
  });

  it('continues after a failed step', async () => {
    const shutdown = order();
    const ran: string[] = [];
    shutdown.addStep('stop-accepting', 'bad', () => Promise.reject(new Error('no')));
    shutdown.addStep('drain', 'throwing', () => {
      throw new Error('no');
    });
    shutdown.addStep('close', 'good', () => Promise.resolve(void ran.push('good')));
    expect(await shutdown.runAll()).toBe(false);
    expect(ran).toEqual(['good']);
  });

  it('names the running steps', async () => {
    const shutdown = order();
    let release = (): void => undefined;
    shutdown.addStep('drain', 'requests', () => new Promise<void>((resolve) => (release = resolve)));
    const running = shutdown.runAll();
    await new Promise(setImmediate);
    expect(shutdown.unfinishedSteps).toEqual(['requests']);
    release();
    await running;
    expect(shutdown.unfinishedSteps).toEqual([]);
  });

  it('shuts the first part of a process down before the others, and the others together', async () => {
    const parts = ['gateway', 'a', 'b'].map((name) => ({ name, shutdown: order() }));
    const ran: string[] = [];
    for (const { name, shutdown } of parts) {
      shutdown.addStep('stop-accepting', 'listener', () => Promise.resolve(void ran.push(`${name} stops`)));
      shutdown.addStep('close', 'pool', async () => {
        await new Promise(setImmediate);
        ran.push(`${name} closed`);
      });
    }
    expect(await shutDown(parts)).toBe(true);
    expect(ran).toEqual(['gateway stops', 'gateway closed', 'a stops', 'b stops', 'a closed', 'b closed']);
  });
});
