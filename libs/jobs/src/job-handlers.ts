import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModuleRef } from '@nestjs/core';
import type { SettingsDefinition, SettingsOf } from '@rookery/platform';
import { JOB } from './job';
import type { JobDefinition, JobMark, JobRunWith } from './job';

/** A method that executes a job. */
export interface JobHandler {
  readonly definition: JobDefinition;
  /** Cron line of five fields; null for a job without a schedule. */
  readonly cron: string | null;
  call(run: JobRunWith): Promise<void>;
}

/** The methods with `@Job` in the providers of the service. */
@Injectable()
export class JobHandlers {
  private found: ReadonlyMap<string, JobHandler> | null = null;

  constructor(
    private readonly providers: DiscoveryService,
    private readonly methods: MetadataScanner,
    private readonly module: ModuleRef,
  ) {}

  /** All handlers by job name. Errors: a plain Error when two methods handle the same job. */
  allHandlers(): ReadonlyMap<string, JobHandler> {
    return (this.found ??= this.collectHandlers());
  }

  /** Returns the handler of a job. Errors: a plain Error if no provider of this service handles it. */
  requireHandler(name: string): JobHandler {
    const handler = this.allHandlers().get(name);
    if (!handler) throw new Error(`no provider handles the job ${name}`);
    return handler;
  }

  private collectHandlers(): ReadonlyMap<string, JobHandler> {
    const handlers = new Map<string, JobHandler>();
    const instances = new Set(this.providers.getProviders().map(({ instance }) => instance as unknown));
    for (const instance of instances) {
      if (typeof instance !== 'object' || instance === null) continue;
      for (const method of this.methods.getAllMethodNames(Object.getPrototypeOf(instance) as object)) {
        const handler = this.findJobHandler(instance as MethodsByName, method);
        if (!handler) continue;
        const { name } = handler.definition;
        if (handlers.has(name)) throw new Error(`two methods handle the job ${name}`);
        handlers.set(name, handler);
      }
    }
    return handlers;
  }

  private findJobHandler(instance: MethodsByName, method: string): JobHandler | null {
    const carried = instance[method];
    const mark = typeof carried === 'function' ? (Reflect.getMetadata(JOB, carried) as JobMark | undefined) : undefined;
    if (!mark) return null;
    const { definition, cron } = mark;
    const read = <D extends SettingsDefinition>(wanted: D): SettingsOf<D> =>
      this.module.get<SettingsOf<D>>(wanted.token, { strict: false });
    return {
      definition,
      cron: typeof cron === 'function' ? cron(read) : cron,
      call: async (run) => void (await instance[method]!(run)),
    };
  }
}

type MethodsByName = Record<string, ((run: JobRunWith) => Promise<unknown>) | undefined>;
