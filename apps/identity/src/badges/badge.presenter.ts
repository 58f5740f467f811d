import { int, nullable, presenter, text, choice } from '@rookery/api-v4';
import type { RenderedBadge } from './badge-rendering';

/** A badge that is not stored, so it has neither id nor name. Source: reference identity-and-import 8. */
export const badgePreview = presenter<RenderedBadge>('BadgePreview').fields({
  name: [nullable(text), ({ badge }) => badge.name],
  link_url: [text, ({ badge }) => badge.linkUrl],
  image_url: [text, ({ badge }) => badge.imageUrl],
  rendered_link_url: [text, (rendered) => rendered.linkUrl],
  rendered_image_url: [text, (rendered) => rendered.imageUrl],
});

export const badge = badgePreview.extend<RenderedBadge>('Badge').fields({
  id: [int, ({ badge }) => badge.id],
  kind: [choice('project', 'group'), ({ badge }) => badge.kind],
});
