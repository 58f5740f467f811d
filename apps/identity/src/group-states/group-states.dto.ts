import { Flag, IdOrPath, Text } from '@rookery/api-v4';
import type { RemovalRequest } from '../removal/removal.service';

export class DeleteGroupParams implements RemovalRequest {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ optional: true }) permanently_remove?: boolean;
  @Text({ optional: true }) full_path?: string;
}

export class GroupRefParams {
  @IdOrPath({ in: 'path' }) id: number | string;
}
