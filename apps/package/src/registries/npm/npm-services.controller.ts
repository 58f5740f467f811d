import { Controller } from '@nestjs/common';
import { anyone, Endpoint, json, signedIn, streamedBody } from '@rookery/api-v4';
import type { Call, NoParams, StreamedCall } from '@rookery/api-v4';
import { NotFound, Unauthorized } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { NPM_REGISTRIES } from './npm-reading.controller';
import type { NpmRegistryKind } from './npm-reading.controller';
import { IdentifyNpmToken, IdentifyNpmUser, IdentifyUnknownNpmRoute } from './npm.dto';
import { npmRefusals } from './npm.permission';
import { DONE, FOUND_NOTHING, NO_ADVISORIES, NO_AUDIT, PONG, USER } from './npm.schema';
import type { NpmScope } from './npm.permission';

/** Units: bytes, also inflated. */
const MAX_AUDIT_BYTES = 10 * 1024 * 1024;
const MAX_OTHER_BYTES = 64 * 1024;

const NO_FINDINGS = {
  actions: [],
  advisories: {},
  muted: [],
  metadata: {
    vulnerabilities: { info: 0, low: 0, moderate: 0, high: 0, critical: 0 },
    ...{ dependencies: 0, devDependencies: 0, optionalDependencies: 0, totalDependencies: 0 },
  },
} as const;
const HINT = 'Log in with an access token: set _authToken of this registry in .npmrc.';

/**
 * Routes of npm clients that are not about packages: the username of the caller, search and audits. Rookery knows no advisories and
 * searches nothing, and answers so that clients go on. Source: reference packages-and-admin 4.4.
 */
function createNpmWhoamiSearchAuditController(kind: NpmRegistryKind) {
  const { base, below, resource } = NPM_REGISTRIES[kind];
  const shared = {
    ...below,
    source: 'reference packages-and-admin 4.4',
    refusals: npmRefusals(resource),
  } as object as { readonly source: string; readonly refusals: ReturnType<typeof npmRefusals> };
  const audits = { ...shared, may: anyone(), body: streamedBody({ maxBytes: MAX_AUDIT_BYTES, inflates: true }) };

  @Controller()
  class NpmServicesController {
    @Endpoint('GET', `${base}/-/ping`, {
      ...shared,
      about: `Says that the registry is there (${kind}).`,
      may: anyone(),
      answers: json(PONG),
    })
    ping(): object {
      return {};
    }

    @Endpoint('GET', `${base}/-/whoami`, {
      ...shared,
      about: `Returns the username of the caller (${kind}).`,
      may: signedIn(),
      answers: json(USER),
    })
    whoami({ viewer }: Call<NoParams, NpmScope, SignedInViewer>): object {
      return { username: viewer.username };
    }

    @Endpoint('GET', `${base}/-/v1/search`, {
      ...shared,
      about: `Finds no packages: there is no search (${kind}).`,
      may: anyone(),
      answers: json(FOUND_NOTHING),
    })
    search(): object {
      return { objects: [], total: 0, time: new Date().toISOString() };
    }

    @Endpoint('POST', `${base}/-/npm/v1/security/advisories/bulk`, {
      ...audits,
      about: `Finds no advisories about packages (${kind}).`,
      answers: json(NO_ADVISORIES),
    })
    async advise({ body }: StreamedCall<NoParams, NpmScope>): Promise<object> {
      await skipBody(body);
      return {};
    }

    @Endpoint('POST', `${base}/-/npm/v1/security/audits/quick`, {
      ...audits,
      aliases: [`${base}/-/npm/v1/security/audits`],
      about: `Finds no advisories about a dependency tree (${kind}).`,
      answers: json(NO_AUDIT),
    })
    async audit({ body }: StreamedCall<NoParams, NpmScope>): Promise<object> {
      await skipBody(body);
      return NO_FINDINGS;
    }

    @Endpoint('PUT', `${base}/-/user/:user`, {
      ...shared,
      about: `Refuses a login with a password (${kind}). Clients use access tokens.`,
      may: anyone(),
      params: IdentifyNpmUser,
      body: streamedBody({ maxBytes: MAX_OTHER_BYTES }),
      answers: json(DONE),
    })
    async logIn({ body }: StreamedCall<IdentifyNpmUser, NpmScope>): Promise<object> {
      await skipBody(body);
      throw new Unauthorized(HINT);
    }

    @Endpoint('DELETE', `${base}/-/user/token/:token`, {
      ...shared,
      about: `Ends a login of a client (${kind}). The access token stays valid.`,
      may: signedIn(),
      params: IdentifyNpmToken,
      answers: json(DONE),
    })
    logOut(): object {
      return { ok: true };
    }

    @Endpoint('POST', `${base}/-/*path`, {
      ...shared,
      about: `Refuses calls of npm clients that Rookery does not have (${kind}).`,
      may: anyone(),
      params: IdentifyUnknownNpmRoute,
      body: streamedBody({ maxBytes: MAX_OTHER_BYTES }),
      answers: json(DONE),
      fails: [404],
    })
    async refuse({ body }: StreamedCall<IdentifyUnknownNpmRoute, NpmScope>): Promise<object> {
      await skipBody(body);
      throw new NotFound();
    }
  }

  return NpmServicesController;
}

export const NpmServicesOfProjectsController = createNpmWhoamiSearchAuditController('project');
export const NpmServicesOfGroupsController = createNpmWhoamiSearchAuditController('group');
export const NpmServicesOfInstanceController = createNpmWhoamiSearchAuditController('instance');

/** Reads a body to its end, so that its limits count. */
async function skipBody(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of body);
}
