import { int, nullable, presenter, text } from '@rookery/api-v4';
import type { BadgeRow, BadgeUrls, Rendered } from './badge-row';

/** A badge that is not stored: a preview, which has no name. Source: reference identity-and-import 8. */
export const badgePreview = presenter<Rendered<BadgeUrls> & { readonly name: string | null }>('BadgePreview').fields({
  name: [nullable(text), (badge) => badge.name],
  link_url: [text, (badge) => badge.link_url],
  image_url: [text, (badge) => badge.image_url],
  rendered_link_url: [text, (badge) => badge.rendered_link_url],
  rendered_image_url: [text, (badge) => badge.rendered_image_url],
});

export const badge = badgePreview.extend<Rendered<BadgeRow>>('Badge').fields({
  id: [int, (row) => row.id],
  kind: [text, (row) => row.kind],
});
