import { BodyMeter } from './request-body';

const LIMITS = { limit: 1e6, slowPeerMs: 20, mayBeSlow: true, serviceMs: 60_000 };

describe('BodyMeter', () => {
  it.each([
    ['that sends the body on', 0],
    ['that has sent the whole body', 1],
  ])('gives up a service that does not read, for a client %s', async (_, ends) => {
    const meter = new BodyMeter({ ...LIMITS, serviceMs: 60 }, () => Promise.resolve(null));
    const failed = new Promise<Error>((resolve) => meter.once('error', resolve));
    for (let chunks = 0; chunks < 3; chunks += 1) meter.write(Buffer.alloc(16 * 1024));
    if (ends) {
      meter.read();
      meter.end();
    }
    expect((await failed).message).toBe('deadline');
  });

  it('waits for a service for as long as its route allows', async () => {
    const meter = new BodyMeter(LIMITS, () => Promise.resolve(null));
    const body = Buffer.alloc(48 * 1024, 'abc');
    meter.end(body);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(Buffer.concat(await meter.toArray())).toEqual(body);
  });

  it('does not take the wait for the last look at the rights for a slow client', async () => {
    let allow = (): void => undefined;
    const recheck = (): Promise<null> => new Promise((resolve) => (allow = () => resolve(null)));
    const meter = new BodyMeter(LIMITS, recheck);
    meter.end(Buffer.from('abc'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    allow();
    expect(Buffer.concat(await meter.toArray()).toString()).toBe('abc');
  });
});
