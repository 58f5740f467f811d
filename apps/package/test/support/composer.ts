import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';
import type { FakeCollaboration } from './fake-collaboration';
import { shaOf } from './fake-collaboration';

export function composerPath({ id }: Pick<DirectoryProject, 'id'>): string {
  return `/api/v4/projects/${id}/packages/composer`;
}

/** Path of the repository of a group. */
export function composerRepository({ id }: { readonly id: number }): string {
  return `/api/v4/group/${id}/-/packages/composer`;
}

/** Returns a `composer.json`. `more` has further fields. */
export function composerJson(name: string, more: object = {}): string {
  return JSON.stringify({ name, description: 'Eggs.', require: { php: '>=8.1' }, ...more });
}

/** Gives a project a ref with this `composer.json`. `json` is null for a commit without one. */
export function addRef(
  source: FakeCollaboration,
  project: Pick<DirectoryProject, 'id'>,
  ref: string,
  o: { readonly commit?: string; readonly json?: string | null } = {},
): void {
  const { commit = shaOf('a'), json = composerJson('nest/eggs') } = o;
  source.files.set(`${project.id} ${ref} composer.json`, { commit, content: json });
}

/** Publishes the tag `v1.0.0`, or another ref. */
export async function published(
  app: TestApp,
  viewer: Viewer,
  project: Pick<DirectoryProject, 'id'>,
  source: FakeCollaboration,
  o: { readonly tag?: string; readonly branch?: string; readonly commit?: string; readonly json?: string } = {},
): Promise<void> {
  const { tag, branch, ...file } = o;
  const asked = branch === undefined ? { tag: tag ?? 'v1.0.0' } : { branch };
  addRef(source, project, branch === undefined ? `refs/tags/${asked.tag}` : `refs/heads/${branch}`, file);
  await app.as(viewer).post(composerPath(project)).send(asked).expect(201, { message: '201 Created' });
}
