import { Controller } from '@nestjs/common';
import type { InternalRequest } from '@rookery/api-v4';
import { Internal } from '@rookery/api-v4';
import type { ResolveSudoAnswer, ResolveTokenAnswer } from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { TokenResolution } from './token-resolution';

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Calls of the gateway; guarded by its key, unknown outside. */
@Controller()
export class TokenResolutionController {
  constructor(private readonly resolution: TokenResolution) {}

  @Internal('POST', INTERNAL_PATHS.resolveToken, INTERNAL_CALLERS.resolveToken)
  token({ body }: InternalRequest): Promise<ResolveTokenAnswer> {
    const { digest, ip, rotating } = body;
    return this.resolution.resolve({ digest: textOrNull(digest), ip: textOrNull(ip), rotating: rotating === true });
  }

  @Internal('POST', INTERNAL_PATHS.resolveSudo, INTERNAL_CALLERS.resolveSudo)
  sudo({ body }: InternalRequest): Promise<ResolveSudoAnswer> {
    return this.resolution.sudo(String(body['ref'] ?? ''));
  }
}
