import { Hash, IdOrPath, Text } from '@rookery/api-v4';

/** Source: requirements 2 §4; reference identity-and-import 7.2. */
export class CreatePipelineByToken {
  @IdOrPath({ about: 'Id or full path of the project.' }) id: number | string;
  @Text({ blank: 'refused' }) ref: string;
  @Text({ about: 'A trigger token, or the token of a running job of the project.' }) token: string;
  @Hash({ of: 'any', optional: true, about: 'Variables of the pipeline: texts by name.' })
  variables?: Record<string, unknown>;
  @Hash({ of: 'any', optional: true, about: 'Inputs by name, at most 20.' }) inputs?: Record<string, unknown>;
  @Text({
    in: 'header',
    header: 'x-gitlab-event',
    optional: true,
    about: 'Kind of the webhook that sends the request. Webhooks of pipelines are refused, because they would loop.',
  })
  event?: string;
}
