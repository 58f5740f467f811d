import { Flag, Int, IdOrPath, Text } from '@rookery/api-v4';
import type { RemovalRequest } from './deletion-marks.service';

export class RemoveUser {
  @Int({ in: 'path' }) id: number;
  @Flag({ default: false, about: 'Also what they wrote, and the groups that only they own.' }) hard_delete: boolean;
}

export class RemoveServiceAccount {
  @Int({ in: 'path' }) user_id: number;
  @Flag({ default: false, about: 'With what it wrote and the groups that only it owns.' }) hard_delete: boolean;
}

export class RemoveGroup implements RemovalRequest {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ optional: true }) permanently_remove?: boolean;
  @Text({ optional: true }) full_path?: string;
}

export class OneGroup {
  @IdOrPath({ in: 'path' }) id: number | string;
}

/** Nothing but the project itself. */
export class OneProject {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class RemoveProject extends OneProject {
  @Flag({ optional: true, about: 'Removes a project that is marked already.' }) permanently_remove?: boolean;
  @Text({ optional: true, about: 'The whole path, to be sure.' }) full_path?: string;
}
