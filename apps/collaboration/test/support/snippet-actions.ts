import type { DirectoryProject } from '@rookery/contracts';
import type { Visibility } from '@rookery/kernel';
import type { SeededService, SeededUser } from '@rookery/testing';

export interface ShownSnippet {
  readonly id: number;
  readonly title: string;
  readonly file_name: string;
  readonly files: readonly { readonly path: string; readonly raw_url: string }[];
  readonly visibility: Visibility;
  readonly author: { readonly id: number } | null;
  readonly updated_at: string;
}

/** Actions on snippets. `project` is null for personal snippets. */
export function snippetActions(service: () => SeededService) {
  const by = (who: SeededUser | null) =>
    service().app.as(who ? service().seed.viewer(who) : service().seed.anonymous());
  const at = (project: DirectoryProject | null, tail = ''): string =>
    `/api/v4${project ? `/projects/${project.id}` : ''}/snippets${tail}`;
  const wish = (over: Record<string, unknown> = {}) => ({
    title: 'A title',
    visibility: 'private',
    files: [{ file_path: 'a.txt', content: 'Alpha' }],
    ...over,
  });
  const made = async (
    who: SeededUser,
    project: DirectoryProject | null,
    over: Record<string, unknown> = {},
  ): Promise<ShownSnippet> => (await by(who).post(at(project)).send(wish(over)).expect(201)).body as ShownSnippet;
  return { by, at, wish, made };
}
