/** Publishes every message of some streams again without a message id, like a broker that lost its ids. */
import { connect, headers } from 'nats';

const COPY = 'Drill-Copy';

/**
 * Starts publishing copies. `stop()` resolves to the number of copies made.
 * @param {string} natsUrl
 * @param {{ streams: string[], copies: number }} options
 */
export async function deliverAgain(natsUrl, { streams, copies }) {
  const { host, username, password } = new URL(natsUrl);
  const connection = await connect({ servers: host, user: username, pass: password });
  const bus = connection.jetstream();
  let made = 0;
  const subscriptions = streams.map((stream) => {
    const subscription = connection.subscribe(`${stream.toLowerCase()}.>`);
    const loop = (async () => {
      for await (const message of subscription) {
        if (message.headers?.has(COPY)) continue;
        const fields = headers();
        const given = message.headers;
        for (const key of given?.keys() ?? []) {
          if (key !== 'Nats-Msg-Id' && !key.startsWith('Nats-Expected')) fields.set(key, given?.get(key) ?? '');
        }
        fields.set(COPY, '1');
        for (let copy = 0; copy < copies; copy += 1) {
          await bus.publish(message.subject, message.data, { headers: fields });
          made += 1;
        }
      }
    })();
    return { subscription, loop };
  });
  return {
    async stop() {
      for (const { subscription } of subscriptions) subscription.unsubscribe();
      await Promise.all(subscriptions.map(({ loop }) => loop));
      await connection.close();
      return made;
    },
  };
}
