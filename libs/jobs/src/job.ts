import { problemsOf } from '@rookery/contracts';
import type { Infer, Schema } from '@rookery/contracts';
import type { SettingsDefinition, SettingsOf } from '@rookery/platform';

/** Schema of a job's parameters: ids and short facts. */
export type ParamsSchema = Extract<Schema, { kind: 'object' }>;

/** A declared job. `defineJob` makes it, and a method with `@Job` executes it. */
export interface JobDefinition<P = unknown> {
  readonly name: string;
  readonly params: ParamsSchema;
  readonly tries: number;
  /** Jobs of one queue run one after the other, across all replicas. */
  readonly queue: string | null;
  readonly whenWaiting: 'replace' | 'keep';
  readonly isKeyed: boolean;
  /** Null: jobs of this definition are never merged. */
  keyOf(params: P): string | null;
}

interface JobOptions<S extends ParamsSchema> {
  /** Number of tries; the delay before each retry grows: 3 s, 7 s, 20 s, 1 min … 2 h. */
  readonly tries?: number;
  readonly queue?: string;
  /** At most one job waits per key. A running job does not count, because it may have read its data too early. */
  readonly key?: (params: Infer<S>) => string;
  /** Effect on a waiting job with the same key: it takes over the new due time (default), or keeps its own. */
  readonly whenWaiting?: 'replace' | 'keep';
}

/** 10 tries take about 3.5 hours. */
const TRIES = 10;
const MAX_PARAMS_BYTES = 4096;

/**
 * Declares a job: one name, one form of parameters and one retry policy for both the code that enqueues it and the
 * handler. The name is kebab-case and permanent, because waiting jobs refer to it. Parameters are ids and short facts.
 * Errors: a plain Error for a name that is not kebab-case, or parameters that carry a text.
 * Source: ADR 0160.
 */
export function defineJob<const S extends ParamsSchema>(
  name: string,
  params: S,
  o: JobOptions<S> = {},
): JobDefinition<Infer<S>> {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new Error(`the job "${name}" is not kebab-case`);
  if (containsText(params)) throw new Error(`parameters of ${name} carry a text: store it in a row and pass its id`);
  return {
    name,
    params,
    tries: o.tries ?? TRIES,
    queue: o.queue ?? null,
    whenWaiting: o.whenWaiting ?? 'replace',
    isKeyed: o.key !== undefined,
    keyOf: (values) => (o.key ? `${name}:${o.key(values)}` : null),
  };
}

function containsText(schema: Schema): boolean {
  switch (schema.kind) {
    case 'text':
      return true;
    case 'nullable':
    case 'optional':
    case 'list':
      return containsText(schema.of);
    case 'object':
      return Object.values(schema.fields).some(containsText);
    default:
      return false;
  }
}

/** Parameters as JSON for the queue. Errors: a plain Error when they are invalid or too large. */
export function serializeJobParams(job: JobDefinition, params: unknown): string {
  checkParams(job, params);
  const text = JSON.stringify(params);
  if (Buffer.byteLength(text) > MAX_PARAMS_BYTES) throw new Error(`parameters of ${job.name} are too large`);
  return text;
}

export function checkParams(job: JobDefinition, params: unknown): void {
  const problems = problemsOf(job.params, params);
  if (problems.length > 0) throw new Error(`parameters of ${job.name} are invalid: ${problems.join(', ')}`);
}

/** One try of a job, as its handler receives it, such as `JobRun<typeof removeUser>`. */
export type JobRun<D> = D extends JobDefinition<infer P> ? JobRunWith<P> : never;

/** One try of a job by the type of its parameters, which is `unknown` for an unknown job. */
export interface JobRunWith<P = unknown> {
  readonly params: P;
  /** 1 for the first try. */
  readonly attempt: number;
  /** The time at which the job was due; for a cron job, the minute of its tick. */
  readonly dueAt: Date;
  /** Aborted when the job is cancelled or the process shuts down. The job should then throw; the try is not counted as failed. */
  readonly signal: AbortSignal;
  /** Reports the progress: parts done, parts in total (null: unknown), and a short note. */
  progress(done: number, total?: number | null, note?: string | null): Promise<void>;
}

/** The part of a run that long jobs check between two parts of their work. */
export type Interruptible = Pick<JobRunWith, 'signal'>;

type ReadSettings = <D extends SettingsDefinition>(definition: D) => SettingsOf<D>;
/** Cron line of five fields in UTC (`0 3 * * *`), or a function that reads it from the settings. */
export type CronLine = string | ((read: ReadSettings) => string);

/** Metadata that `@Job` attaches to a method. */
export interface JobMark {
  readonly definition: JobDefinition;
  readonly cron: CronLine | null;
}
export const JOB: unique symbol = Symbol('Job');

type HandlerDecorator<P> = <T extends (run: JobRunWith<P>) => Promise<unknown>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<T>,
) => void;

/**
 * Makes a provider's method the handler of a job, in the worker role only. The method gets the parameters and opens its
 * own transactions. It must be repeatable: a try is repeated when its process dies, or when its completion could not be
 * recorded.
 *
 * A job that only a schedule enqueues is declared by its name alone. With `cron` it is enqueued at each tick, once
 * across all replicas. Unless the definition states otherwise, at most one waits and at most one runs. A tick that was
 * missed because no worker was running is made up for within a day.
 * Source: ADR 0160.
 */
export function Job(name: string, o: { readonly cron: CronLine }): HandlerDecorator<unknown>;
export function Job<P>(job: JobDefinition<P>, o?: { readonly cron?: CronLine }): HandlerDecorator<P>;
export function Job(job: JobDefinition | string, o: { readonly cron?: CronLine } = {}): MethodDecorator {
  const definition = typeof job === 'string' ? defineScheduledJob(job) : job;
  const mark: JobMark = { definition, cron: o.cron ?? null };
  return (_target, _key, descriptor) => Reflect.defineMetadata(JOB, mark, descriptor.value as object);
}

/** A job that only a schedule enqueues. A few tries are enough, because the next tick tries again. */
function defineScheduledJob(name: string): JobDefinition {
  return defineJob(name, { kind: 'object', fields: {} }, { queue: name, key: () => 'tick', tries: 5 });
}
