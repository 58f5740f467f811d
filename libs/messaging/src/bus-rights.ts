import type { ServiceName } from '@rookery/contracts';
import { replySubjectPrefix } from './bus/broker';
import type { Effect } from './consuming/effects';
import { durableNameOf, streamNameOf } from './bus/streams';

/** Permissions of an account on the bus: subjects in the notation of nats-server. */
export interface BusRights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/**
 * The minimal permissions of a service on the bus: its own subjects and stream, its own durables, its own inbox. Its
 * password allows neither publishing for another service, nor reading or delaying events that other services consume.
 * Subjects of the JetStream API are those of nats-server 2.9 and later.
 * Source: reference reliability 2.3; ADR 0170.
 */
export function busRightsOf(service: ServiceName, effects: readonly Pick<Effect, 'name' | 'definition'>[]): BusRights {
  const own = streamNameOf(service);
  const durables = effects
    .map(({ name, definition }) => ({
      stream: streamNameOf(definition.service),
      durable: durableNameOf(service, name, definition),
    }))
    .sort((a, b) => (`${a.stream}.${a.durable}` < `${b.stream}.${b.durable}` ? -1 : 1));
  return {
    publish: [
      `${service}.>`,
      ...['INFO', 'CREATE', 'UPDATE', 'MSG.GET'].map((call) => `$JS.API.STREAM.${call}.${own}`),
      ...durables.flatMap(({ stream, durable }) => [
        `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
        `$JS.API.CONSUMER.DELETE.${stream}.${durable}`,
        `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
        `$JS.API.CONSUMER.CREATE.${stream}.${durable}.>`,
        `$JS.API.CONSUMER.CREATE.${stream}.${durable}`,
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
        `$JS.ACK.${stream}.${durable}.>`,
      ]),
    ],
    subscribe: [`${replySubjectPrefix(service)}.>`],
  };
}
