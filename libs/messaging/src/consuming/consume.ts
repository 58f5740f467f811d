import { EventPattern } from '@nestjs/microservices';
import { EventFamily } from '@rookery/contracts';
import type { EventDefinition, PayloadOf, DirectoryPosition } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';

/** An event as an effect receives it, such as `Delivered<typeof noteCreated>`. */
export type Delivered<D extends EventDefinition> = DeliveredWith<PayloadOf<D>>;

/** A delivered event by the type of its payload, which is `unknown` for an unknown event. */
export interface DeliveredWith<P> {
  readonly id: string;
  /** Time of the event, ISO 8601. */
  readonly time: string;
  /** The noun of the event, for a handler of several events. */
  readonly aggregateType: string;
  readonly aggregateId: number;
  readonly actorId: number | null;
  /** Recipients are decided by a copy of the directory that has reached this version. Source: ADR 0171. */
  readonly seen?: DirectoryPosition;
  readonly data: P;
}

/** Events that are new to this effect, oldest first, and the transaction for its writes. */
export type EffectBatch<D extends EventDefinition> = EffectBatchWith<PayloadOf<D>>;

interface EffectBatchWith<P> {
  readonly tx: Tx;
  readonly events: readonly DeliveredWith<P>[];
}

/** A batch for a handler. */
export type AnyBatch = EffectBatchWith<unknown>;

/** Extras that a handler's pattern carries to the strategy. */
export interface EffectExtras {
  readonly effect: string;
  readonly of: EventDefinition | EventFamily;
  readonly gatherMs: number;
}

/** Errors of handlers by batch: Nest's RPC proxy answers "Internal server error" and keeps the error to itself. */
const failures = new WeakMap<object, { readonly error: unknown }>();

/** The error that the handler threw for this batch; undefined when it succeeded. */
export function findHandlerFailure(batch: object): { readonly error: unknown } | undefined {
  return failures.get(batch);
}

const declared: EffectExtras[] = [];

/**
 * The effects of all loaded controllers: one entry for each event of each effect. `membersOf` returns the events
 * provided for a family.
 */
export function declaredEffects(
  membersOf: (family: EventFamily) => readonly EventDefinition[] = () => [],
): readonly { readonly name: string; readonly definition: EventDefinition }[] {
  return declared.flatMap(({ effect: name, of }) =>
    (of instanceof EventFamily ? membersOf(of) : [of]).map((definition) => ({ name, definition })),
  );
}

type EffectHandler = (this: unknown, batch: AnyBatch, ...rest: unknown[]) => unknown;

/**
 * Makes a controller's method the effect of an event, or of each event of a family. The method receives batches of
 * events that are new to it and writes through `tx`; inbox rows and effects commit together. An event whose effect
 * fails is tried again and finally kept as a dead letter. `effect` is a permanent name (`raise-todos`); renaming it
 * replays the stream from its start. A handler must not do anything that a rollback cannot undo, because a failing
 * batch is tried again event by event. `gatherMs` is how long events may wait to share a transaction with others, for
 * effects that no user waits for. Source: reference reliability 2.3, 2.4; ADR 0025.
 */
export function Consume<D extends EventDefinition>(
  event: D | EventFamily<D>,
  o: { readonly effect: string; readonly gatherMs?: number },
): MethodDecorator {
  if (!/^[a-z][a-z0-9-]*$/.test(o.effect)) throw new Error(`the effect "${o.effect}" is not kebab-case`);
  return (target, key, descriptor) => {
    const method = descriptor.value as unknown as EffectHandler;
    const kept = async function (this: unknown, batch: AnyBatch, ...rest: unknown[]): Promise<void> {
      try {
        await method.call(this, batch, ...rest);
      } catch (error) {
        failures.set(batch, { error });
      }
    };
    // Decorators below this one left their metadata on the method itself.
    for (const name of Reflect.getMetadataKeys(method) as unknown[]) {
      Reflect.defineMetadata(name, Reflect.getMetadata(name, method), kept);
    }
    descriptor.value = kept as never;
    const extras: EffectExtras = { effect: o.effect, of: event, gatherMs: o.gatherMs ?? 0 };
    declared.push(extras);
    EventPattern(event instanceof EventFamily ? event.name : event.subject, { ...extras })(target, key, descriptor);
  };
}
