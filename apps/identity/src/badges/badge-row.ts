import type { ProjectScope, GroupScope } from '@rookery/api-v4';

export type BadgeSource = ProjectScope | GroupScope;

/** A badge as the statements of this room read it. */
export interface BadgeRow {
  readonly id: number;
  readonly kind: 'project' | 'group';
  readonly name: string | null;
  readonly link_url: string;
  readonly image_url: string;
  readonly updated_at: Date;
}

/** What is said of a badge before it is one. */
export interface BadgeUrls {
  readonly link_url: string;
  readonly image_url: string;
}
export interface NewBadge extends BadgeUrls {
  readonly name?: string | null;
}
export type BadgeChange = Partial<NewBadge>;

/** With placeholders replaced. */
export type Rendered<B extends BadgeUrls> = B & {
  readonly rendered_link_url: string;
  readonly rendered_image_url: string;
};
