import { Controller } from '@nestjs/common';
import type { InternalRequest } from '@rookery/api-v4';
import { InternalRoute } from '@rookery/api-v4';
import type {
  CheckWebSessionAnswer,
  EndWebSessionAnswer,
  ListWebSessionsAnswer,
  StartWebSessionAnswer,
} from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { WebSessionsService } from './web-sessions.service';

const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Internal routes for the web pages of the gateway. Source: ADR 0207. */
@Controller()
export class WebSessionsController {
  constructor(private readonly sessions: WebSessionsService) {}

  @InternalRoute('POST', INTERNAL_PATHS.startWebSession, INTERNAL_CALLERS.startWebSession)
  async start({ body }: InternalRequest): Promise<StartWebSessionAnswer> {
    const { id, digest, ip, user_agent: userAgent } = body;
    const asked = {
      id: textOrEmpty(id),
      digest: textOrEmpty(digest),
      ip: textOrNull(ip),
      user_agent: textOrNull(userAgent),
    };
    return { is_started: await this.sessions.startSession(asked) };
  }

  @InternalRoute('POST', INTERNAL_PATHS.checkWebSession, INTERNAL_CALLERS.checkWebSession)
  async check({ body }: InternalRequest): Promise<CheckWebSessionAnswer> {
    return { is_live: await this.sessions.isLive(textOrEmpty(body['id']), textOrNull(body['ip'])) };
  }

  @InternalRoute('POST', INTERNAL_PATHS.listWebSessions, INTERNAL_CALLERS.listWebSessions)
  async list({ body }: InternalRequest): Promise<ListWebSessionsAnswer> {
    return { sessions: await this.sessions.list(textOrEmpty(body['id'])) };
  }

  @InternalRoute('POST', INTERNAL_PATHS.endWebSession, INTERNAL_CALLERS.endWebSession)
  async end({ body }: InternalRequest): Promise<EndWebSessionAnswer> {
    return { is_permitted: await this.sessions.endSession(textOrEmpty(body['id']), textOrEmpty(body['ended_id'])) };
  }
}
