import { Flag, IdOrPath, OneOf } from '@rookery/api-v4';
import { AnyProjectsParams } from '../project-lists/project-filters.dto';
import { PROJECT_ORDERS } from '../project-lists/project-filters';
import type { ProjectOrder } from '../project-lists/project-filters';
import type { GroupProjectsRange } from './group-projects-set';

const SHARED_ORDERS = PROJECT_ORDERS.filter((order) => order !== 'similarity');

/** Source: reference identity-and-import 2.7. */
export class GroupProjectsParams extends AnyProjectsParams implements GroupProjectsRange {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ default: false }) owned: boolean;
  @Flag({ default: true, about: 'Projects of others that were shared with the group too.' }) with_shared: boolean;
  @Flag({ default: false }) include_subgroups: boolean;
  @Flag({ default: false }) include_ancestor_groups: boolean;
  @Flag({ default: false, about: 'No project has any.' }) with_security_reports: boolean;
}

export class SharedProjectsParams extends AnyProjectsParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @OneOf(SHARED_ORDERS, { default: 'created_at' }) override order_by: ProjectOrder;
}
