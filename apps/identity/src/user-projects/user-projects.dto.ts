import { Text } from '@rookery/api-v4';
import { ListProjectsParams } from '../project-lists/project-filters.dto';

export class UserProjectsParams extends ListProjectsParams {
  @Text({ in: 'path', about: 'Id or username.' }) user_id: string;
}
