import { Controller } from '@nestjs/common';
import { Internal } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import type { InstanceAnswer } from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { InstanceService } from './instance.service';

/** Longest wait of a poll, below what proxies and the server itself cut. Units: ms. */
const MAX_WAIT_MS = 20_000;

/** What every process asks of admin; guarded by their keys, unknown outside. */
@Controller()
export class InstanceController {
  constructor(private readonly instance: InstanceService) {}

  @Internal('GET', INTERNAL_PATHS.instance, INTERNAL_CALLERS.instance)
  show({ query, signal }: InternalRequest): Promise<InstanceAnswer> {
    const waitMs = Math.min(whole(query, 'wait_ms'), MAX_WAIT_MS);
    return this.instance.otherThan(whole(query, 'after'), waitMs, signal);
  }
}

/** Shape: -1 for a reader who knows nothing yet. */
function whole(query: InternalRequest['query'], name: string): number {
  const text = query[name];
  if (typeof text !== 'string' || !/^(-1|\d{1,15})$/.test(text)) throw new InvalidParameters([`${name} is invalid`]);
  return Number(text);
}
