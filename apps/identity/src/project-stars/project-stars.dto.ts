import { IdOrPath, Text } from '@rookery/api-v4';

export class StarParams {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class StarrersParams extends StarParams {
  @Text({ optional: true, about: 'Part of the name or username.' }) search?: string;
}
