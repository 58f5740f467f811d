import type { Infer, Schema } from './schema';

export type ServiceName = 'identity' | 'collaboration' | 'import' | 'package' | 'admin';
export const SERVICE_NAMES: readonly ServiceName[] = ['identity', 'collaboration', 'import', 'package', 'admin'];

/** What may be published: one line of the catalogue. */
export interface EventDefinition<S extends Schema = Schema> {
  readonly service: ServiceName;
  readonly noun: string;
  readonly verb: string;
  readonly version: number;
  /** `rookery.<service>.<noun>.<past verb>.v<major>` */
  readonly type: string;
  /** `<service>.<noun>.<past verb>.v<major>` */
  readonly subject: string;
  readonly about: string;
  readonly schema: S;
}

export type PayloadOf<D> = D extends { readonly schema: infer S } ? Infer<S> : never;

/** CloudEvents 1.0, structured mode. `id` is the outbox row's UUIDv7 and the broker's message id. */
export interface Envelope<P = unknown> {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  /** Extension attributes (lower case by the CloudEvents rules). */
  readonly aggregatetype: string;
  readonly aggregateid: number;
  readonly actorid: number | null;
  /** What the copy of the directory must have seen before it decides who is told: as in `Seen`. */
  readonly directoryversion?: number;
  readonly directoryepoch?: string;
  readonly traceparent?: string;
  readonly data: P;
}

/** How much of the directory whoever caused a fact had seen: a version means something only within its epoch. */
export interface Seen {
  readonly version: number;
  readonly epoch: string;
}

/** A fact ready to be written to the outbox: made by `noteCreated.of({...})`. */
export interface DomainEvent<P = unknown> {
  readonly definition: EventDefinition;
  readonly aggregateId: number;
  readonly actorId: number | null;
  /** Effects wait until their copy of the directory has seen as much. Source: ADR 0171. */
  readonly seen?: Seen | undefined;
  readonly data: P;
}

/**
 * Events of one shape that a handler is told of alike. Purpose: which events these are is known only when the service is
 * put together, after its handlers were written.
 * Shape: a module provides them under `token`, as a list of definitions; the handler tells them apart by
 * `aggregateType`.
 */
export class EventFamily<D extends EventDefinition = EventDefinition> {
  readonly token: symbol;
  /** Only for inference. */
  declare readonly holds?: D;

  constructor(readonly name: string) {
    this.token = Symbol(name);
  }
}

/**
 * Declares an event. Purpose: one place for name, version and payload of each fact that leaves a service.
 * Shape: `aggregateId` is the id of the noun; `seen` is the viewer's `directory`; payloads carry ids and facts, never bodies, tokens or addresses.
 * Source: docs/architecture.md 3.
 */
export function defineEvent<const S extends Schema>(
  name: `${ServiceName}.${string}.${string}.v${number}`,
  about: string,
  schema: S,
): EventDefinition<S> & {
  of(event: {
    aggregateId: number;
    actorId: number | null;
    seen?: Seen | undefined;
    data: Infer<S>;
  }): DomainEvent<Infer<S>>;
} {
  const [service, noun, verb, major] = name.split('.') as [ServiceName, string, string, string];
  const definition: EventDefinition<S> = {
    service,
    noun,
    verb,
    version: Number(major.slice(1)),
    type: `rookery.${name}`,
    subject: name,
    about,
    schema,
  };
  return { ...definition, of: (event) => ({ definition, ...event }) };
}
