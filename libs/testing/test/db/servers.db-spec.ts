import { connect } from 'nats';
import { startNats } from '../../src';

describe('startNats', () => {
  it('keeps streams over a stop and a start', async () => {
    const server = await startNats();
    try {
      const before = await connect({ servers: server.url });
      await (await before.jetstreamManager()).streams.add({ name: 'ROOKS', subjects: ['rooks.>'] });
      await before.jetstream().publish('rooks.landed');
      await before.close();
      await server.stop();
      await server.start();
      const after = await connect({ servers: server.url });
      const stream = await (await after.jetstreamManager()).streams.info('ROOKS');
      await after.close();
      expect(stream.state.messages).toBe(1);
    } finally {
      await server.drop();
    }
  });
});
