import { readFileSync } from 'node:fs';
import { Controller, Get, Inject, Res } from '@nestjs/common';
import { API_VERSION } from '@rookery/kernel';
import type { FastifyReply } from 'fastify';
import { gatewaySettings } from '../gateway.config';
import type { GatewaySettings } from '../gateway.config';
import { ASYNCAPI_FILE, OPENAPI_FILE } from '../routes/committed';
import { sendJson } from './send-json';

const KAS = { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null };

/**
 * Facts about the instance: version, metadata, and the documents of its API and events. The edge has checked the caller
 * before.
 */
@Controller('api/v4')
export class AboutController {
  private document: Buffer | undefined;
  private events: Buffer | undefined;

  constructor(@Inject(gatewaySettings.token) private readonly settings: GatewaySettings) {}

  @Get('version')
  version(@Res() reply: FastifyReply): void {
    sendJson(reply, { version: API_VERSION, revision: this.settings.revision });
  }

  @Get('metadata')
  metadata(@Res() reply: FastifyReply): void {
    sendJson(reply, { version: API_VERSION, revision: this.settings.revision, kas: KAS, enterprise: true });
  }

  @Get('openapi.json')
  openApi(@Res() reply: FastifyReply): void {
    sendJson(reply, (this.document ??= readFileSync(OPENAPI_FILE)));
  }

  @Get('asyncapi.json')
  asyncApi(@Res() reply: FastifyReply): void {
    sendJson(reply, (this.events ??= readFileSync(ASYNCAPI_FILE)));
  }
}
