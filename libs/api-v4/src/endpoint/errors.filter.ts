import { Catch } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { TooLarge } from '@rookery/kernel';
import type { Logger, Outages } from '@rookery/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import type { EndpointRoutes } from './endpoint-routes';
import { renderError } from '../answers/errors';
import { writeError } from '../answers/reply';

/** Answers errors outside of endpoints: unknown routes, bodies over the limit, ordinary Nest routes. */
@Catch()
export class ErrorsFilter implements ExceptionFilter {
  constructor(
    private readonly routes: EndpointRoutes,
    private readonly log: Logger,
    private readonly outages: Outages,
  ) {}

  catch(error: unknown, host: ArgumentsHost): Observable<never> | void {
    // Event handlers handle their errors themselves and get them unchanged.
    if (host.getType() !== 'http') return throwError(() => error);
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const given = request.headers['x-request-id'];
    const facts = {
      requestId: typeof given === 'string' ? given : '',
      startedAt: performance.now(),
      isHead: request.method === 'HEAD',
    };
    const code = (error as { code?: string } | null)?.code;
    const meant = request.is404
      ? this.routes.refuseUrl(request.raw.url ?? '')
      : code === 'FST_ERR_CTP_BODY_TOO_LARGE'
        ? new TooLarge()
        : error;
    writeError(reply, facts, renderError(meant, this.log, this.outages, facts.requestId));
  }
}
