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
    shutdown.on('close', 'pool', step('pool'));
    shutdown.on('close', 'application', step('application'));
    shutdown.on('drain', 'requests', step('requests'));
    shutdown.on('drain', 'consumers', step('consumers'));
    shutdown.on('stop-accepting', 'listener', step('listener'));
    shutdown.on('announce', 'answers', step('answers'));
    expect(await Promise.all([shutdown.announce(), shutdown.announce()])).toEqual([true, true]);
    expect(shutdown.hasBegun).toBe(false);
    expect(await Promise.all([shutdown.run(), shutdown.run()])).toEqual([true, true]);
    expect(ran).toEqual(['answers', 'listener', 'requests', 'consumers', 'application', 'pool']);
    expect(shutdown.hasBegun).toBe(true);
  });

  it('continues after a failed step', async () => {
    const shutdown = order();
    const ran: string[] = [];
    shutdown.on('stop-accepting', 'bad', () => Promise.reject(new Error('no')));
    shutdown.on('drain', 'throwing', () => {
      throw new Error('no');
    });
    shutdown.on('close', 'good', () => Promise.resolve(void ran.push('good')));
    expect(await shutdown.run()).toBe(false);
    expect(ran).toEqual(['good']);
  });

  it('names the running steps', async () => {
    const shutdown = order();
    let release = (): void => undefined;
    shutdown.on('drain', 'requests', () => new Promise<void>((resolve) => (release = resolve)));
    const running = shutdown.run();
    await new Promise(setImmediate);
    expect(shutdown.unfinished).toEqual(['requests']);
    release();
    await running;
    expect(shutdown.unfinished).toEqual([]);
  });

  it('shuts the first part of a process down before the others, and the others together', async () => {
    const parts = ['gateway', 'a', 'b'].map((name) => ({ name, shutdown: order() }));
    const ran: string[] = [];
    for (const { name, shutdown } of parts) {
      shutdown.on('stop-accepting', 'listener', () => Promise.resolve(void ran.push(`${name} stops`)));
      shutdown.on('close', 'pool', async () => {
        await new Promise(setImmediate);
        ran.push(`${name} closed`);
      });
    }
    expect(await shutDown(parts)).toBe(true);
    expect(ran).toEqual(['gateway stops', 'gateway closed', 'a stops', 'b stops', 'a closed', 'b closed']);
  });
});
