import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import type { PushedPipelines } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { PushPipelines } from './push-pipelines';

/** Finds the pipelines that a push starts, for the package service. Source: reference identity-and-import 7.6. */
@Controller()
export class PushPipelinesController {
  constructor(private readonly pipelines: PushPipelines) {}

  @InternalRoute('POST', INTERNAL_PATHS.pushedPipelines, INTERNAL_CALLERS.pushedPipelines)
  show({ body: { push_id: id } }: InternalRequest): Promise<PushedPipelines> {
    if (!Number.isSafeInteger(id)) throw new InvalidParameters(['push_id is invalid']);
    return this.pipelines.listForPush(id as number);
  }

  @InternalRoute('POST', INTERNAL_PATHS.pushVariablesStored, INTERNAL_CALLERS.pushVariablesStored)
  async forget({ body: { push_id: id } }: InternalRequest): Promise<object> {
    if (!Number.isSafeInteger(id)) throw new InvalidParameters(['push_id is invalid']);
    await this.pipelines.forgetVariables(id as number);
    return {};
  }
}
