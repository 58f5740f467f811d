import { Flag, IdOrPath, Int, OneOf, Search, Text } from '@rookery/api-v4';
import { PLANS } from '@rookery/kernel';
import type { NamespaceFilters } from './namespace-row';

/** Source: reference identity-and-import 3. */
export class ListNamespaces implements NamespaceFilters {
  @Search({ about: 'Part of the name or path.' }) search?: string;
  @Flag({ default: false, about: 'People: their own, and groups that they own.' }) owned_only: boolean;
  @Flag({ default: false }) top_level_only: boolean;
  @Flag({ default: false, about: 'Search the full path too.' }) full_path_search: boolean;
}

export class OneNamespace {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class UpdateNamespace extends OneNamespace {
  @OneOf(PLANS, { about: 'Of a top-level namespace, for all below it.' }) plan: (typeof PLANS)[number];
}

export class CheckNamespace {
  @Text({ in: 'path', about: 'The path.' }) namespace: string;
  @Int({ optional: true, about: 'The parent; the top level without.' }) parent_id?: number;
}
