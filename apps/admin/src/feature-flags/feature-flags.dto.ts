import { AnyValue, Flag, Int, ListOfHashes, OneOf, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { FeatureFlagFilters, FeatureFlagInput } from './feature-flags.service';
import type { ScopeInput, StrategyInput } from './flag-strategies';

const MOST = 100;
const VERSION = 'Only `new_version_flag`.';

export class ListFeatureFlags implements ExactInput<FeatureFlagFilters, ListFeatureFlags> {
  @OneOf(['enabled', 'disabled'], { optional: true }) scope?: 'enabled' | 'disabled';
}

class NewEnvironmentScope implements ExactInput<ScopeInput, NewEnvironmentScope> {
  @Text({ about: '`*` matches any run of characters.' }) environment_scope: string;
}
class ChangedEnvironmentScope implements ExactInput<ScopeInput, ChangedEnvironmentScope> {
  @Int({ optional: true, about: 'Id of an existing scope. Without it, a scope is created.' }) id?: number;
  @Text({ optional: true }) environment_scope?: string;
  @Flag({ optional: true, about: 'Deletes the scope.' }) _destroy?: boolean;
}

class NewFlagStrategy implements ExactInput<StrategyInput, NewFlagStrategy> {
  @Text() name: string;
  @AnyValue({ optional: true, about: 'A hash, or a hash as JSON text.' }) parameters?: unknown;
  @Int({ optional: true, nullable: true }) user_list_id?: number | null;
  @ListOfHashes(() => NewEnvironmentScope, { optional: true, max: MOST }) scopes?: readonly NewEnvironmentScope[];
}
class ChangedFlagStrategy implements ExactInput<StrategyInput, ChangedFlagStrategy> {
  @Int({ optional: true, about: 'Id of an existing strategy. Without it, a strategy is created.' }) id?: number;
  @Text({ optional: true }) name?: string;
  @AnyValue({ optional: true, about: 'A hash, or a hash as JSON text.' }) parameters?: unknown;
  @Int({ optional: true, nullable: true }) user_list_id?: number | null;
  @ListOfHashes(() => ChangedEnvironmentScope, { optional: true, max: MOST })
  scopes?: readonly ChangedEnvironmentScope[];
  @Flag({ optional: true, about: 'Deletes the strategy.' }) _destroy?: boolean;
}

/** Source: reference packages-and-admin 9.2. */
export class CreateFeatureFlag implements ExactInput<FeatureFlagInput, CreateFeatureFlag, 'version'> {
  @Text() name: string;
  @Text({ optional: true, about: VERSION }) version?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Flag({ optional: true, about: 'Default: true.' }) active?: boolean;
  @ListOfHashes(() => NewFlagStrategy, { optional: true, max: MOST }) strategies?: readonly NewFlagStrategy[];
}

export class IdentifyFeatureFlag {
  @Text({ in: 'path' }) feature_flag_name: string;
}

export class UpdateFeatureFlag
  extends IdentifyFeatureFlag
  implements ExactInput<FeatureFlagInput, UpdateFeatureFlag, 'feature_flag_name'>
{
  @Text({ optional: true, about: 'The new name.' }) name?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Flag({ optional: true }) active?: boolean;
  @ListOfHashes(() => ChangedFlagStrategy, { optional: true, max: MOST }) strategies?: readonly ChangedFlagStrategy[];
}
