import { Flag, IdOrPath, Int, OneOf, Search, Text } from '@rookery/api-v4';
import { PLANS } from '@rookery/kernel';
import type { NamespaceFilters } from './namespace-row';

/** Source: reference identity-and-import 3. */
export class ListNamespaces implements NamespaceFilters {
  @Search({ about: 'Part of the name or path.' }) search?: string;
  @Flag({ default: false, about: 'Non-administrators: only their own namespace and groups that they own.' })
  owned_only: boolean;
  @Flag({ default: false }) top_level_only: boolean;
  @Flag({ default: false, about: 'Also searches the full path.' }) full_path_search: boolean;
}

export class IdentifyNamespace {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class UpdateNamespace extends IdentifyNamespace {
  @OneOf(PLANS, { about: 'Plan of a top-level namespace. It applies to all namespaces below.' })
  plan: (typeof PLANS)[number];
}

export class CheckNamespace {
  @Text({ in: 'path', about: 'The path to check.' }) namespace: string;
  @Int({ optional: true, about: 'Id of the parent. Default: the top level.' }) parent_id?: number;
}
