import { problemsOf } from '@rookery/contracts';
import type { Infer, Schema } from '@rookery/contracts';
import type { SettingsDefinition, SettingsOf } from '@rookery/platform';

/** What a job is told: ids and facts of a word. */
export type ParamsSchema = Extract<Schema, { kind: 'object' }>;

/** A kind of work that is done later. Shape: made by `defineJob`, carried out by a method with `@Job`. */
export interface JobDefinition<P = unknown> {
  readonly name: string;
  readonly params: ParamsSchema;
  readonly tries: number;
  /** Jobs of one queue run one after the other, over all replicas. */
  readonly queue: string | null;
  readonly whenWaiting: 'replace' | 'keep';
  readonly isKeyed: boolean;
  /** Null: every job of this kind stands for itself. */
  keyOf(params: P): string | null;
}

interface JobOptions<S extends ParamsSchema> {
  /** All tries together; the delay before the next one grows: 3 s, 7 s, 20 s, 1 min … 2 h. */
  readonly tries?: number;
  readonly queue?: string;
  /** Of jobs with the same key at most one waits; one that already runs does not count, since it may have looked too early. */
  readonly key?: (params: Infer<S>) => string;
  /** What becomes of a waiting one with the same key: it takes over the new instant (default), or keeps its own. */
  readonly whenWaiting?: 'replace' | 'keep';
}

/** 10 tries take some 3.5 hours. */
const TRIES = 10;
const MAX_PARAMS_BYTES = 4096;

/**
 * Declares a job. Purpose: whoever asks for it and whoever carries it out share one name, one shape of parameters and
 * one way to repeat it.
 * Shape: the name is kebab-case and lasting, since waiting jobs bear it. Parameters are ids and facts of a word.
 * Errors: a plain Error for a name that is not kebab-case, or parameters that carry a text.
 * Source: ADR 0160.
 */
export function defineJob<const S extends ParamsSchema>(
  name: string,
  params: S,
  o: JobOptions<S> = {},
): JobDefinition<Infer<S>> {
  if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new Error(`the job "${name}" is not kebab-case`);
  if (carriesText(params)) throw new Error(`parameters of ${name} carry a text: keep it in a row and hand on its id`);
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

function carriesText(schema: Schema): boolean {
  switch (schema.kind) {
    case 'text':
      return true;
    case 'nullable':
    case 'optional':
    case 'list':
      return carriesText(schema.of);
    case 'object':
      return Object.values(schema.fields).some(carriesText);
    default:
      return false;
  }
}

/** Parameters as the queue keeps them. Errors: a plain Error when they do not fit the definition or are too many. */
export function writtenParams(job: JobDefinition, params: unknown): string {
  checkParams(job, params);
  const text = JSON.stringify(params);
  if (Buffer.byteLength(text) > MAX_PARAMS_BYTES) throw new Error(`parameters of ${job.name} are too large`);
  return text;
}

export function checkParams(job: JobDefinition, params: unknown): void {
  const problems = problemsOf(job.params, params);
  if (problems.length > 0) throw new Error(`parameters of ${job.name} do not fit: ${problems.join(', ')}`);
}

/** One try of a job, as its method sees it. Shape: `JobRun<typeof removeUser>`. */
export type JobRun<D> = D extends JobDefinition<infer P> ? JobRunWith<P> : never;

/** The same by its parameters; before the job is known, they are `unknown`. */
export interface JobRunWith<P = unknown> {
  readonly params: P;
  /** 1 for the first. */
  readonly attempt: number;
  /** When it was to begin; for a cron job, the minute that its line named. */
  readonly dueAt: Date;
  /** Aborted when somebody cancels the job and when the process must end; then the job throws, and loses nothing by it. */
  readonly signal: AbortSignal;
  /** Says how far it is: so many of so many, and a few words. Null keeps the total open. */
  progress(done: number, total?: number | null, note?: string | null): Promise<void>;
}

/** What a job looks at between two parts of its work. */
export type Ending = Pick<JobRunWith, 'signal'>;

type ReadSettings = <D extends SettingsDefinition>(definition: D) => SettingsOf<D>;
/** Five fields in UTC (`0 3 * * *`), or where they stand among the settings. */
export type CronLine = string | ((read: ReadSettings) => string);

/** What `@Job` leaves on a method. */
export interface JobMark {
  readonly definition: JobDefinition;
  readonly cron: CronLine | null;
}
export const JOB: unique symbol = Symbol('Job');

type Carries<P> = <T extends (run: JobRunWith<P>) => Promise<unknown>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<T>,
) => void;

/**
 * Makes a provider's method carry out a job, in the worker role only. Purpose: the method gets the parameters, opens the
 * transactions it needs, and may be run again at any time: a try whose process dies is repeated, and so is one that
 * could not be noted as done.
 * Shape: by a name alone for what only time asks for. With `cron` it is asked for at each tick, once over all replicas;
 * unless the definition says otherwise no two of them wait and no two run at once. A tick that nobody was there for is
 * made up for within a day.
 * Source: ADR 0160.
 */
export function Job(name: string, o: { readonly cron: CronLine }): Carries<unknown>;
export function Job<P>(job: JobDefinition<P>, o?: { readonly cron?: CronLine }): Carries<P>;
export function Job(job: JobDefinition | string, o: { readonly cron?: CronLine } = {}): MethodDecorator {
  const definition = typeof job === 'string' ? timedJob(job) : job;
  const mark: JobMark = { definition, cron: o.cron ?? null };
  return (_target, _key, descriptor) => Reflect.defineMetadata(JOB, mark, descriptor.value as object);
}

/** The next tick tries again, so a few tries between are enough. */
function timedJob(name: string): JobDefinition {
  return defineJob(name, { kind: 'object', fields: {} }, { queue: name, key: () => 'tick', tries: 5 });
}
