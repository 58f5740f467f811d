import { Controller } from '@nestjs/common';
import type { InternalRequest } from '@rookery/api-v4';
import { Internal } from '@rookery/api-v4';
import type {
  ConfirmCallerAnswer,
  ConfirmCallerRequest,
  ResolveSudoAnswer,
  ResolveTokenAnswer,
} from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { TokenResolution } from './token-resolution';

/** 0, which nothing has, for what is no id. */
const idOf = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Calls of the gateway and of services; guarded by their keys, unknown outside. */
@Controller()
export class TokenResolutionController {
  constructor(private readonly resolution: TokenResolution) {}

  @Internal('POST', INTERNAL_PATHS.resolveToken, INTERNAL_CALLERS.resolveToken)
  token({ body }: InternalRequest): Promise<ResolveTokenAnswer> {
    const { digest, ip, rotating, idempotency_key: key } = body;
    const named = typeof key === 'string' ? { idempotency_key: key } : {};
    const question = { digest: textOrNull(digest), ip: textOrNull(ip), rotating: rotating === true, ...named };
    return this.resolution.resolve(question);
  }

  @Internal('POST', INTERNAL_PATHS.confirmCaller, INTERNAL_CALLERS.confirmCaller)
  confirm({ body }: InternalRequest): Promise<ConfirmCallerAnswer> {
    const { token_id, user_id, rotating: _, idempotency_key: __, ...told } = body as unknown as ConfirmCallerRequest;
    return this.resolution.confirm({ ...told, token_id: idOf(token_id), user_id: idOf(user_id) });
  }

  @Internal('POST', INTERNAL_PATHS.resolveSudo, INTERNAL_CALLERS.resolveSudo)
  sudo({ body }: InternalRequest): Promise<ResolveSudoAnswer> {
    return this.resolution.sudo(String(body['ref'] ?? ''));
  }
}
