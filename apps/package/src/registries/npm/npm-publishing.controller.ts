import { Controller } from '@nestjs/common';
import { Endpoint, json, project, signedIn, streamedBody } from '@rookery/api-v4';
import type { Call, ProjectScope, StreamedCall } from '@rookery/api-v4';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { deletesPackages, publishesPackages } from '../../packages/packages.permission';
import { NpmMaintenance } from './maintenance/npm-maintenance';
import { isNpmPackageName } from './npm-names';
import { DONE, PUBLISHED } from './npm.schema';
import { NPM_REGISTRIES } from './npm-reading.controller';
import { UploadNpmPackage, RemoveNpmPackage } from './npm.dto';
import { npmRefusals } from './npm.permission';
import type { NpmScope } from './npm.permission';
import { readNpmPublishDocument } from './publishing/document-reader';
import { NpmDocumentsService } from './publishing/npm-documents.service';
import { MAX_DOCUMENT_BYTES } from './publishing/npm-gate';

const SOURCE = 'reference packages-and-admin 4.4';
const { base } = NPM_REGISTRIES.project;
/** A document that lists versions without any tarball. Units: bytes. */
const MAX_METADATA_BYTES = 64 * 1024 * 1024;

const unpublishes = {
  within: project(),
  source: SOURCE,
  may: deletesPackages,
  params: RemoveNpmPackage,
  refusals: npmRefusals('Project'),
  answers: json(DONE),
} as const;

/** Publishes and removes versions of npm packages. */
@Controller()
export class NpmPublishingController {
  constructor(
    private readonly documents: NpmDocumentsService,
    private readonly maintenance: NpmMaintenance,
  ) {}

  @Endpoint('PUT', `${base}/*package_name`, {
    within: project(),
    source: SOURCE,
    refusals: npmRefusals('Project'),
    about: 'Publishes a version of an npm package; a document without attachments deprecates versions.',
    may: publishesPackages,
    params: UploadNpmPackage,
    body: streamedBody({ maxBytes: MAX_DOCUMENT_BYTES }),
    answers: json(PUBLISHED),
    fails: [400, 403, 404],
  })
  async publish(call: StreamedCall<UploadNpmPackage, ProjectScope, SignedInViewer>): Promise<object> {
    const { within, viewer, params, body, answered } = call;
    if (params.package_name.startsWith('-/')) throw new NotFound();
    const { package_name: name, npm_session: session = null } = params;
    const published = await this.documents.putDocument(within, viewer, {
      ...{ name, body, declaredSize: body.declaredSize, session, answered },
    });
    return { ok: true, ...published };
  }

  @Endpoint('PUT', `${base}/*package_name/-rev/:rev`, {
    ...unpublishes,
    about: 'Removes the version of an npm package that the document leaves out.',
    body: streamedBody({ maxBytes: MAX_METADATA_BYTES }),
    fails: [404, 409],
  })
  async unpublish(call: StreamedCall<RemoveNpmPackage, ProjectScope>): Promise<object> {
    const { within, viewer, params, body } = call;
    const document = await readNpmPublishDocument(body, null, MAX_METADATA_BYTES);
    const named = { name: params.package_name, revision: params.rev };
    await this.maintenance.removeVersion(within, viewer, named, document);
    return { ok: true };
  }

  @Endpoint('DELETE', `${base}/*package_name/-rev/:rev`, {
    ...unpublishes,
    about: 'Removes all versions of an npm package. For the path of a tarball it has no effect.',
    fails: [404, 409],
  })
  async unpublishAll({ within, viewer, params }: Call<RemoveNpmPackage, ProjectScope>): Promise<object> {
    const { package_name: name, rev } = params;
    // Clients delete the tarball after the document, which has removed it already.
    if (!name.includes('/-/'))
      await this.maintenance.removeAll(within, viewer, isNpmPackageName(name) ? name : '', rev);
    return { ok: true };
  }
}

/** Registries of groups and of the instance take no versions. */
function createNpmPublishRefusalsController(kind: 'group' | 'instance') {
  const { base: path, below, resource } = NPM_REGISTRIES[kind];

  @Controller()
  class NpmRefusalsController {
    constructor(readonly links: Links) {}

    @Endpoint('PUT', `${path}/*package_name`, {
      ...(below as object),
      source: SOURCE,
      refusals: npmRefusals(resource),
      about: `Refuses versions of npm packages, which are published to a project (${kind}).`,
      may: signedIn(),
      params: UploadNpmPackage,
      body: streamedBody({ maxBytes: MAX_DOCUMENT_BYTES }),
      answers: json(DONE),
      fails: [403, 404],
    })
    publish(call: StreamedCall<UploadNpmPackage, NpmScope, SignedInViewer>): Promise<object> {
      if (call.params.package_name.startsWith('-/')) throw new NotFound();
      const url = this.links.apiUrl('projects/<id>/packages/npm/');
      throw new Forbidden(`Publish to the project registry: ${url}`);
    }
  }

  return NpmRefusalsController;
}

export const NpmRefusalsOfGroupsController = createNpmPublishRefusalsController('group');
export const NpmRefusalsOfInstanceController = createNpmPublishRefusalsController('instance');
