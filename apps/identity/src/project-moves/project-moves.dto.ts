import { IdOrPath } from '@rookery/api-v4';

export class TransferProjectParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @IdOrPath({ about: 'Id or full path of a group or of a person.' }) namespace: number | string;
}

export class MoveIntoGroupParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @IdOrPath({ in: 'path' }) project_id: number | string;
}
