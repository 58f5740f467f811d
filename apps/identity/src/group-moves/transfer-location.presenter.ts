import { int, nullable, presenter, text } from '@rookery/api-v4';
import { absoluteUrl } from '@rookery/directory';
import type { TransferLocation } from './transfer-locations.queries';

/** Source: reference identity-and-import 2.6. */
export const transferLocation = presenter<TransferLocation>('TransferLocation').fields({
  id: [int, (group) => group.id],
  web_url: [text, (group, _, { links }) => links.web(`groups/${group.full_path}`)],
  name: [text, (group) => group.name],
  avatar_url: [nullable(text), (group, _, { links }) => absoluteUrl(group.avatar_url, links)],
  full_name: [text, (group) => group.full_name],
  full_path: [text, (group) => group.full_path],
});
