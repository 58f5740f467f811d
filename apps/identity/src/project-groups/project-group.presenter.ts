import { int, nullable, presenter, text } from '@rookery/api-v4';
import { absoluteUrl } from '@rookery/directory';
import type { ProjectGroupRow } from './project-groups.queries';

/** Source: reference identity-and-import 10.2. */
export const projectGroup = presenter<ProjectGroupRow>('ProjectGroup').fields({
  id: [int, (one) => one.id],
  web_url: [text, (one, _, { links }) => links.web(`groups/${one.full_path}`)],
  name: [text, (one) => one.name],
  avatar_url: [nullable(text), (one, _, { links }) => absoluteUrl(one.avatar_url, links)],
  full_name: [text, (one) => one.full_name],
  full_path: [text, (one) => one.full_path],
});
