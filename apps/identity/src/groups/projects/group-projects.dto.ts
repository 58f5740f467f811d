import { Flag, IdOrPath, OneOf } from '@rookery/api-v4';
import { ListAnyProjects } from '../../projects/listing/project-filters.dto';
import { PROJECT_ORDERS } from '../../projects/listing/project-filters';
import type { ProjectOrder } from '../../projects/listing/project-filters';
import type { GroupProjectsRange } from './group-projects-set';

const SHARED_ORDERS: readonly ProjectOrder[] = PROJECT_ORDERS.filter((order) => order !== 'similarity');

/** Source: reference identity-and-import 2.7. */
export class ListGroupProjects extends ListAnyProjects implements GroupProjectsRange {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ default: false }) owned: boolean;
  @Flag({ default: true, about: 'Also lists projects of other namespaces that are shared with the group.' })
  with_shared: boolean;
  @Flag({ default: false }) include_subgroups: boolean;
  @Flag({ default: false }) include_ancestor_groups: boolean;
  @Flag({ default: false, about: 'No project has any.' }) with_security_reports: boolean;
}

export class ListSharedProjects extends ListAnyProjects {
  @IdOrPath({ in: 'path' }) id: number | string;
  @OneOf(SHARED_ORDERS, { default: 'created_at' }) override order_by: ProjectOrder;
}

export class MoveIntoGroup {
  @IdOrPath({ in: 'path' }) id: number | string;
  @IdOrPath({ in: 'path' }) project_id: number | string;
}
