import { Flag, IdOrPath, Text } from '@rookery/api-v4';

/** Nothing but the project itself. */
export class ProjectRefParams {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class DeleteProjectParams extends ProjectRefParams {
  @Flag({ optional: true, about: 'Removes a project that is marked already.' }) permanently_remove?: boolean;
  @Text({ optional: true, about: 'The whole path, to be sure.' }) full_path?: string;
}
