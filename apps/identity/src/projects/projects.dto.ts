import { Flag, IdOrPath } from '@rookery/api-v4';
import type { ProjectDetail } from './projects.queries';

/** Source: reference identity-and-import 10.2. */
export class ProjectParams implements ProjectDetail {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ default: false, about: 'Reporters of the project and administrators.' }) statistics: boolean;
  @Flag({ default: false }) license: boolean;
  @Flag({ default: false, about: 'Administrators.' }) with_custom_attributes: boolean;
}
