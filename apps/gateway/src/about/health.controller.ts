import { Controller, Get, Res } from '@nestjs/common';
import { Outages, Readiness } from '@rookery/platform';
import type { FastifyReply } from 'fastify';
import { sendJson } from './send-json';
import { ServiceReadiness } from './service-readiness';

/** Health checks of the whole estate, for load balancers outside it. Source: reference identity-and-import 1.4. */
@Controller('-/health')
export class HealthController {
  constructor(
    private readonly services: ServiceReadiness,
    private readonly own: Readiness,
    private readonly outages: Outages,
  ) {}

  @Get('live')
  live(@Res() reply: FastifyReply): void {
    sendJson(reply, { status: 'ok' });
  }

  @Get('ready')
  async ready(@Res() reply: FastifyReply): Promise<void> {
    const [services, { reasons }] = await Promise.all([this.services.findReasons(), this.own.runChecks()]);
    const all = { ...services, ...Object.fromEntries(Object.entries(reasons).map(([k, v]) => [`gateway ${k}`, v])) };
    if (Object.keys(all).length === 0) sendJson(reply, { status: 'ok' });
    else {
      this.outages.recordOutage('not ready', { reasons: all });
      sendJson(reply.code(503).header('retry-after', '1'), { status: 'unavailable', reasons: all });
    }
  }
}
