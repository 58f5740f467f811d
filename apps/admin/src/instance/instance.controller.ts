import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import type { InstanceAnswer } from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { InstanceConfigService } from './instance.service';

/** Longest wait of a poll, shorter than the timeouts of proxies and of the server itself. Units: ms. */
const MAX_WAIT_MS = 20_000;

/** Internal endpoint that all processes poll. It requires an internal key and is not reachable from outside. */
@Controller()
export class InstanceConfigController {
  constructor(private readonly instance: InstanceConfigService) {}

  @InternalRoute('GET', INTERNAL_PATHS.instance, INTERNAL_CALLERS.instance)
  show({ query, signal }: InternalRequest): Promise<InstanceAnswer> {
    const waitMs = Math.min(readInteger(query, 'wait_ms'), MAX_WAIT_MS);
    return this.instance.waitForChange(readInteger(query, 'after'), waitMs, signal);
  }
}

/** Reads an integer of the query. Readers without a version send -1. */
function readInteger(query: InternalRequest['query'], name: string): number {
  const text = query[name];
  if (typeof text !== 'string' || !/^(-1|\d{1,15})$/.test(text)) throw new InvalidParameters([`${name} is invalid`]);
  return Number(text);
}
