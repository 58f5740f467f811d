import { int, nullable, presenter, text } from '@rookery/api-v4';
import { absoluteUrl } from '@rookery/directory';
import type { Topic } from './topic.entity';

/** Source: requirements 2 §2 Topic; reference identity-and-import 9. */
export const topic = presenter<Topic>('Topic').fields({
  id: [int, (one) => one.id],
  name: [text, (one) => one.name],
  title: [text, (one) => one.title ?? one.name],
  description: [nullable(text), (one) => one.description],
  total_projects_count: [int, (one) => one.totalProjectsCount],
  organization_id: [int, (one) => one.organizationId],
  avatar_url: [nullable(text), (one, _, { links }) => absoluteUrl(one.avatarUrl, links)],
});
