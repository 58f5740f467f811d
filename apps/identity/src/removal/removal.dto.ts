import { Flag, Int, IdOrPath, Text } from '@rookery/api-v4';
import type { RemovalRequest } from './deletion-marks.service';

export class RemoveUser {
  @Int({ in: 'path' }) id: number;
  @Flag({ default: false, about: 'Also removes their content, and groups that only they own.' }) hard_delete: boolean;
}

export class RemoveServiceAccount {
  @Int({ in: 'path' }) user_id: number;
  @Flag({ default: false, about: 'Also removes its content, and groups that only it owns.' }) hard_delete: boolean;
}

export class RemoveGroup implements RemovalRequest {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ optional: true }) permanently_remove?: boolean;
  @Text({ optional: true }) full_path?: string;
}

export class IdentifyGroup {
  @IdOrPath({ in: 'path' }) id: number | string;
}

/** Parameters of a route that needs only the project. */
export class IdentifyProject {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class RemoveProject extends IdentifyProject {
  @Flag({ optional: true, about: 'Removes a project that is already marked.' }) permanently_remove?: boolean;
  @Text({ optional: true, about: 'Full path of the project, as a confirmation.' }) full_path?: string;
}
