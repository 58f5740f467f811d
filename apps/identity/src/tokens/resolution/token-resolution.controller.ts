import { Controller } from '@nestjs/common';
import type { InternalRequest } from '@rookery/api-v4';
import { InternalRoute } from '@rookery/api-v4';
import type {
  ConfirmCallerAnswer,
  ConfirmCallerRequest,
  ResolveSudoAnswer,
  ResolveTokenAnswer,
} from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { JobTokenResolution } from './job-resolution';
import { TokenResolution } from './token-resolution';

/** Returns 0, which no row has as its id, for invalid values. */
const safeIntegerOrZero = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Internal routes for the gateway and services, protected by their keys and not reachable from outside. */
@Controller()
export class TokenResolutionController {
  constructor(
    private readonly resolution: TokenResolution,
    private readonly jobs: JobTokenResolution,
  ) {}

  @InternalRoute('POST', INTERNAL_PATHS.resolveToken, INTERNAL_CALLERS.resolveToken)
  token({ body }: InternalRequest): Promise<ResolveTokenAnswer> {
    const { digest, ip, rotating, idempotency_key: key } = body;
    if (body['job'] === true) return this.jobs.resolveJobToken(textOrNull(digest));
    const keyed = typeof key === 'string' ? { idempotency_key: key } : {};
    const question = { digest: textOrNull(digest), ip: textOrNull(ip), rotating: rotating === true, ...keyed };
    return this.resolution.resolveToken(question);
  }

  @InternalRoute('POST', INTERNAL_PATHS.confirmCaller, INTERNAL_CALLERS.confirmCaller)
  confirm({ body }: InternalRequest): Promise<ConfirmCallerAnswer> {
    const { token_id, user_id, rotating: _, idempotency_key: __, ...claims } = body as unknown as ConfirmCallerRequest;
    if (claims.job_id !== undefined)
      return this.jobs.confirmJob({
        ...claims,
        job_id: safeIntegerOrZero(claims.job_id),
        token_id: 0,
        user_id: safeIntegerOrZero(user_id),
      });
    return this.resolution.confirm({
      ...claims,
      token_id: safeIntegerOrZero(token_id),
      user_id: safeIntegerOrZero(user_id),
    });
  }

  @InternalRoute('POST', INTERNAL_PATHS.resolveSudo, INTERNAL_CALLERS.resolveSudo)
  sudo({ body }: InternalRequest): Promise<ResolveSudoAnswer> {
    return this.resolution.resolveSudo(String(body['ref'] ?? ''));
  }
}
