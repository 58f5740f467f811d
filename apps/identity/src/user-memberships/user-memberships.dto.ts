import { Int, OneOf } from '@rookery/api-v4';

export class ListMembershipsParams {
  @Int({ in: 'path' }) id: number;
  @OneOf(['Namespace', 'Project'], { optional: true, about: 'Only memberships of groups, or of projects.' })
  type?: 'Namespace' | 'Project';
}
