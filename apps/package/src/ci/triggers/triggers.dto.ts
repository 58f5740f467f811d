import { Instant, Int, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { PipelineTriggerInput } from './pipeline-trigger.entity';

/** Source: requirements 2 §4 Trigger tokens; reference identity-and-import 7.1. */
export class CreatePipelineTrigger implements ExactInput<PipelineTriggerInput, CreatePipelineTrigger> {
  @Text() description: string;
  @Instant({ optional: true, about: 'Time from which the token is unknown.' }) expires_at?: Date;
}

export class IdentifyPipelineTrigger {
  @Int({ in: 'path', about: 'Id of the trigger token.' }) trigger_id: number;
}

export class UpdatePipelineTrigger extends IdentifyPipelineTrigger {
  @Text({ optional: true }) description?: string;
}
