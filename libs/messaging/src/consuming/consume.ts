import { EventPattern } from '@nestjs/microservices';
import { EventFamily } from '@rookery/contracts';
import type { EventDefinition, PayloadOf, Seen } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';

/** An event as an effect sees it. Shape: `Delivered<typeof noteCreated>`. */
export type Delivered<D extends EventDefinition> = DeliveredWith<PayloadOf<D>>;

/** The same by its payload; before the event is known, the payload is `unknown`. */
export interface DeliveredWith<P> {
  readonly id: string;
  /** When the fact happened, ISO 8601. */
  readonly time: string;
  /** The noun of the event, for a handler of several. */
  readonly aggregateType: string;
  readonly aggregateId: number;
  readonly actorId: number | null;
  /** Who may be told is decided by a copy of the directory that has seen as much. Source: ADR 0171. */
  readonly seen?: Seen;
  readonly data: P;
}

/** Events that this effect has not had yet, oldest first, and the transaction in which it must happen. */
export type EffectBatch<D extends EventDefinition> = BatchWith<PayloadOf<D>>;

interface BatchWith<P> {
  readonly tx: Tx;
  readonly events: readonly DeliveredWith<P>[];
}

/** A batch on its way to a handler. */
export type AnyBatch = BatchWith<unknown>;

/** What a handler's pattern carries to the strategy. */
export interface EffectExtras {
  readonly effect: string;
  readonly of: EventDefinition | EventFamily;
  readonly gatherMs: number;
}

/** Errors of handlers by batch: Nest's RPC proxy answers "Internal server error" and keeps the error to itself. */
const failures = new WeakMap<object, { readonly error: unknown }>();

/** What the handler threw for this batch; undefined when it did not. */
export function failureOf(batch: object): { readonly error: unknown } | undefined {
  return failures.get(batch);
}

const declared: EffectExtras[] = [];

/**
 * Every effect of the controllers that this process has loaded, one entry for each event that it is the effect of.
 * Shape: `membersOf` knows what is provided for a family.
 */
export function declaredEffects(
  membersOf: (family: EventFamily) => readonly EventDefinition[] = () => [],
): readonly { readonly name: string; readonly definition: EventDefinition }[] {
  return declared.flatMap(({ effect: name, of }) =>
    (of instanceof EventFamily ? membersOf(of) : [of]).map((definition) => ({ name, definition })),
  );
}

type Handler = (this: unknown, batch: AnyBatch, ...rest: unknown[]) => unknown;

/**
 * Makes a controller's method the effect of an event, or of each event of a family. Purpose: the method gets batches of
 * events that are new to it and writes through `tx`; inbox rows and effects commit together, and an event whose effect fails is tried again and
 * then kept as a dead letter.
 * Shape: `effect` is a lasting name (`raise-todos`); renaming it replays the stream from its start. It must do nothing
 * that a rollback cannot undo, since a failing batch is tried again event by event. `gatherMs` is how long events may wait
 * for others to share a transaction with, where nobody waits for the effect.
 * Source: reference reliability 2.3, 2.4; ADR 0025.
 */
export function Consume<D extends EventDefinition>(
  event: D | EventFamily<D>,
  o: { readonly effect: string; readonly gatherMs?: number },
): MethodDecorator {
  if (!/^[a-z][a-z0-9-]*$/.test(o.effect)) throw new Error(`the effect "${o.effect}" is not kebab-case`);
  return (target, key, descriptor) => {
    const method = descriptor.value as unknown as Handler;
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
