import { Flag, Hash, Instant, Int, ListOfHashes, OneOf, Text } from '@rookery/api-v4';
import { PIPELINE_SOURCES, PIPELINE_STATUSES } from './pipeline-statuses';
import { VARIABLE_TYPES } from './pipeline-variable.entity';
import type { VariableType } from './pipeline-variable.entity';
import type { PipelineListing } from './pipelines.queries';

/** Source: reference identity-and-import 7.3. */
export class ListPipelines implements PipelineListing {
  @OneOf(['running', 'pending', 'finished', 'branches', 'tags'], {
    optional: true,
    about: '`branches` and `tags`: the newest pipeline of each branch or tag.',
  })
  scope?: 'running' | 'pending' | 'finished' | 'branches' | 'tags';
  @OneOf(PIPELINE_STATUSES, { optional: true }) status?: (typeof PIPELINE_STATUSES)[number];
  @OneOf(PIPELINE_SOURCES, { optional: true }) source?: (typeof PIPELINE_SOURCES)[number];
  @Text({ optional: true }) ref?: string;
  @Text({ optional: true, about: 'Full id of the commit.' }) sha?: string;
  @Flag({ optional: true, about: 'True: only pipelines with a broken configuration. There are none.' })
  yaml_errors?: boolean;
  @Text({ optional: true, about: 'Username of the user as whom the pipeline runs.' }) username?: string;
  @Text({ optional: true, about: 'Only pipelines with this name. Pipelines have none.' }) name?: string;
  @Instant({ optional: true }) updated_after?: Date;
  @Instant({ optional: true }) updated_before?: Date;
  @Instant({ optional: true }) created_after?: Date;
  @Instant({ optional: true }) created_before?: Date;
  @OneOf(['id', 'status', 'ref', 'updated_at', 'user_id'], { default: 'id' })
  order_by: 'id' | 'status' | 'ref' | 'updated_at' | 'user_id';
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
}

export class IdentifyPipeline {
  @Int({ in: 'path', about: 'Id of the pipeline.' }) pipeline_id: number;
}

export class ShowLatestPipeline {
  @Text({ optional: true, about: 'Branch or tag. Default: the default branch.' }) ref?: string;
}

/** A variable of a new pipeline. */
class NewPipelineVariable {
  @Text({ about: 'Letters, digits and `_`.' }) key: string;
  @Text({ about: 'Value of the variable.' }) value: string;
  @OneOf(VARIABLE_TYPES, { default: 'env_var' }) variable_type: VariableType;
}

export class CreateMergeRequestPipeline {
  @Int({ in: 'path', about: 'Number of the merge request in its project.' }) merge_request_iid: number;
  @Flag({ default: false, about: 'True: the answer is 202. The pipeline is created nevertheless.' }) async: boolean;
}

export class CreatePipeline {
  @Text({ blank: 'refused' }) ref: string;
  @ListOfHashes(() => NewPipelineVariable, { optional: true, about: 'Variables of the pipeline.' })
  variables?: NewPipelineVariable[];
  @Hash({ of: 'any', optional: true, about: 'Inputs by name, at most 20.' }) inputs?: Record<string, unknown>;
}
