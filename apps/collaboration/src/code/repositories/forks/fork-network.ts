import type { ProjectScope } from '@rookery/api-v4';

/** Project with its origin. */
export type NetworkMember = Pick<ProjectScope, 'id' | 'fork'>;

/**
 * Whether two projects are forks of one origin, or one is the origin of the other. Forks of a deleted project stay
 * together.
 */
export function areInOneNetwork(one: NetworkMember, other: NetworkMember): boolean {
  return forkNetworkIdOf(one) === forkNetworkIdOf(other);
}

function forkNetworkIdOf({ id, fork }: NetworkMember): number {
  return fork?.network_id ?? id;
}
