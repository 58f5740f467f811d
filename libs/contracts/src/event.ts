import type { Infer, Schema } from './schema';

export type ServiceName = 'identity' | 'collaboration' | 'import' | 'package' | 'admin';
export const SERVICE_NAMES: readonly ServiceName[] = ['identity', 'collaboration', 'import', 'package', 'admin'];

/** The declaration of an event: one line of the catalogue. */
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
  /** Directory version that the copy must have reached before it decides who is notified. */
  readonly directoryversion?: number;
  readonly directoryepoch?: string;
  readonly traceparent?: string;
  readonly data: P;
}

/** Directory version that the cause of an event had seen. A version is meaningful only within its epoch. */
export interface DirectoryPosition {
  readonly version: number;
  readonly epoch: string;
}

/** A domain event ready to be written to the outbox: made by `noteCreated.of({...})`. */
export interface DomainEvent<P = unknown> {
  readonly definition: EventDefinition;
  readonly aggregateId: number;
  readonly actorId: number | null;
  /** Effects wait until their copy of the directory has reached this version. Source: ADR 0171. */
  readonly seen?: DirectoryPosition | undefined;
  readonly data: P;
}

/**
 * Events of one form that one handler receives. The author of the handler does not know which events these are: the
 * service decides that when its modules are composed. A module provides a list of definitions under `token`. The
 * handler distinguishes the events by `aggregateType`.
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
 * Declares an event: one place for name, version and payload of each fact that leaves a service. `aggregateId` is the
 * id of the noun. `seen` is the viewer's `directory`. Payloads carry ids and facts, never bodies, tokens or addresses.
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
    seen?: DirectoryPosition | undefined;
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
