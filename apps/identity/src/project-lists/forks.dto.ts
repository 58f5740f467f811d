import { IdOrPath } from '@rookery/api-v4';
import { ListProjectsParams } from './project-filters.dto';

export class ForksParams extends ListProjectsParams {
  @IdOrPath({ in: 'path' }) id: number | string;
}
