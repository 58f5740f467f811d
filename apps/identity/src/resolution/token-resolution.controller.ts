import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { ResolveSudoAnswer, ResolveTokenAnswer, ResolveTokenRequest } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { TokenResolution } from './token-resolution';

/** Calls of the gateway; guarded by the internal secret, unknown outside. */
@Controller()
export class TokenResolutionController {
  constructor(private readonly resolution: TokenResolution) {}

  @Post(INTERNAL_PATHS.resolveToken)
  @HttpCode(200)
  token(@Body() request: ResolveTokenRequest): Promise<ResolveTokenAnswer> {
    return this.resolution.resolve(request);
  }

  @Post(INTERNAL_PATHS.resolveSudo)
  @HttpCode(200)
  sudo(@Body() request: { ref: string | number }): Promise<ResolveSudoAnswer> {
    return this.resolution.sudo(String(request.ref));
  }
}
