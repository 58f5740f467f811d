import { IdOrPath, Int, Text } from '@rookery/api-v4';

export class TransferGroupParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Int({ optional: true, nullable: true, about: 'New parent; the top level without.' }) group_id?: number | null;
}

export class TransferLocationsParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Text({ optional: true, about: 'Part of the name or path.' }) search?: string;
}
