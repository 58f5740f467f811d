import { Controller } from '@nestjs/common';
import { anyone, Endpoint, file, json, signedIn } from '@rookery/api-v4';
import type { Call, FileAnswer, NoParams, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { readsPackages } from '../../packages/packages.permission';
import { ListConanRecipes } from './conan.dto';
import { CONAN_REFUSALS, CONAN_REGISTRIES } from './conan.permission';
import type { ConanRegistryKind } from './conan.permission';
import { RECIPES, recipesDocument } from './conan.presenter';
import { ConanQueries } from './conan.queries';
import type { ConanProtocol } from './conan.queries';

/** Undefined in the registry of the instance. */
type ProjectOrInstance = ProjectScope | undefined;

const TEXT = 'text/plain';
/** Clients of version 2 refuse a server without it. */
const CAPABILITIES = { 'x-conan-server-capabilities': 'revisions' };

/** Login and search: the same routes in both versions of the protocol, below projects and for the instance. */
function createConanLoginAndSearchController(kind: ConanRegistryKind, protocol: ConanProtocol) {
  const base = `${CONAN_REGISTRIES[kind].base}/${protocol}`;
  const place = `${protocol}, ${kind}`;
  const shared = {
    ...(kind === 'project' ? { within: CONAN_REGISTRIES.project.within } : {}),
    source: 'reference packages-and-admin 4.13',
    refusals: CONAN_REFUSALS,
  } as object as { readonly source: string; readonly refusals: typeof CONAN_REFUSALS };
  // The statement for the instance leaves out recipes that the caller may not read.
  const reads = kind === 'project' ? readsPackages : anyone();

  @Controller()
  class ConanSessionController {
    constructor(readonly conan: ConanQueries) {}

    @Endpoint('GET', `${base}/users/authenticate`, {
      ...shared,
      about: `Returns a token that Conan sends in place of the credential for an hour (${place}).`,
      may: signedIn(),
      answers: file(TEXT),
    })
    authenticate({ viewer }: Call<NoParams, ProjectOrInstance, SignedInViewer>): FileAnswer {
      return { stream: Buffer.from(viewer.clientToken ?? ''), mediaType: TEXT, isNeverStored: true };
    }

    @Endpoint('GET', `${base}/users/check_credentials`, {
      ...shared,
      about: `Answers 200 for a valid credential (${place}).`,
      may: signedIn(),
      answers: file(TEXT),
    })
    checkCredentials(_call: Call<NoParams, ProjectOrInstance, SignedInViewer>): FileAnswer {
      return { stream: Buffer.from('ok'), mediaType: TEXT, isNeverStored: true };
    }

    @Endpoint('GET', `${base}/conans/search`, {
      ...shared,
      about: `Lists references of recipes (${place}).`,
      may: reads as ReturnType<typeof anyone>,
      params: ListConanRecipes,
      isCostly: true,
      answers: json<object>(RECIPES),
    })
    async search({ within, viewer, params }: Call<ListConanRecipes, ProjectOrInstance>): Promise<object> {
      const { q, ignorecase: ignoresCase } = params;
      return recipesDocument(
        await this.conan.searchRecipes(within ?? null, viewer, { pattern: q ?? null, ignoresCase, protocol }),
      );
    }
  }
  return ConanSessionController;
}

/** Creates the controller of `ping`, the first request of Conan 1 and Conan 2 clients. */
function createConanPingController(kind: ConanRegistryKind) {
  const reads = kind === 'project' ? readsPackages : anyone();
  const within = (kind === 'project' ? { within: CONAN_REGISTRIES.project.within } : {}) as object;

  @Controller()
  class ConanPingController {
    @Endpoint('GET', `${CONAN_REGISTRIES[kind].base}/v1/ping`, {
      ...within,
      source: 'reference packages-and-admin 4.13',
      refusals: CONAN_REFUSALS,
      about: `Names what the server offers in \`X-Conan-Server-Capabilities\` (${kind}).`,
      may: reads as ReturnType<typeof anyone>,
      answers: file(TEXT),
    })
    ping(): FileAnswer {
      return { stream: Buffer.alloc(0), mediaType: TEXT, headers: CAPABILITIES };
    }
  }
  return ConanPingController;
}

export const CONAN_SESSION_CONTROLLERS = (['project', 'instance'] as const).flatMap((kind) => [
  createConanPingController(kind),
  createConanLoginAndSearchController(kind, 'v1'),
  createConanLoginAndSearchController(kind, 'v2'),
]);
