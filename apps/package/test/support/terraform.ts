import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';

export const MODULES = '/api/v4/packages/terraform/modules/v1';

/** Path of a module, or of a version, in a project. */
export function terraformPath({ id }: Pick<DirectoryProject, 'id'>, module: string): string {
  return `/api/v4/projects/${id}/packages/terraform/modules/${module}`;
}

/** Uploads an archive as `curl --upload-file` does. `module` is `name/system/version`. */
export function upload(
  app: TestApp,
  viewer: Viewer,
  project: Pick<DirectoryProject, 'id'>,
  module = 'vpc/aws/1.0.0',
  content = 'archive',
) {
  return app
    .as(viewer)
    .put(`${terraformPath(project, module)}/file`)
    .type('application/octet-stream')
    .send(Buffer.from(content));
}

export async function uploaded(
  app: TestApp,
  viewer: Viewer,
  project: Pick<DirectoryProject, 'id'>,
  module?: string,
  content?: string,
): Promise<void> {
  await upload(app, viewer, project, module, content).expect(201, { message: '201 Created' });
}
