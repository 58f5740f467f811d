import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DIRECTORY_VERSION_HEADER } from '@rookery/contracts';
import { HeadWatch } from './head-watch';

/** The little that is used of Fastify. */
interface Hooks {
  addHook(
    name: 'onSend',
    hook: (
      request: { readonly method: string },
      reply: { header(name: string, value: string): unknown },
      payload: unknown,
      done: (error: null, payload: unknown) => void,
    ) => void,
  ): unknown;
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Tells the gateway, on the answer to each write, which version of the directory it must see from now on: the newest
 * that this process has committed. That is never less than what the write itself made, because a commit is noted
 * before its use case returns; so no transaction has to be followed to its answer. Source: architecture 5.3; ADR 0043.
 */
@Injectable()
export class VersionHeader implements OnModuleInit {
  constructor(
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    @Inject(HeadWatch) private readonly watch: HeadWatch,
  ) {}

  onModuleInit(): void {
    // Commands and migrations have no HTTP server.
    const server = this.host.httpAdapter?.getInstance<Partial<Hooks>>();
    server?.addHook?.('onSend', (request, reply, payload, done) => {
      const version = READS.has(request.method) ? null : this.watch.latest;
      if (version !== null) reply.header(DIRECTORY_VERSION_HEADER, String(version));
      done(null, payload);
    });
  }
}
