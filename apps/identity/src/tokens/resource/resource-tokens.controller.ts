import { Controller } from '@nestjs/common';
import type { Call, GroupScope, ProjectScope } from '@rookery/api-v4';
import { ability, created, Endpoint, noContent, one, page, signedIn, projectOrGroup } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { NotFound, Refused, Unauthorized } from '@rookery/kernel';
import { AccessTokensService } from '../access-tokens.service';
import { toResource } from './resource';
import { mayMakeTokens, mayManageTokens } from './resource-token.policy';
import { newResourceToken, resourceToken } from '../access-token.presenter';
import type { NewResourceTokenRow, ResourceTokenRow } from './resource-tokens.queries';
import {
  CreateResourceToken,
  ListResourceTokens,
  IdentifyTokenResource,
  IdentifyResourceToken,
  RotateOwnResourceToken,
  RotateResourceToken,
} from './resource-tokens.dto';
import { ResourceTokensQueries } from './resource-tokens.queries';
import { createTokenCreationRefusal, ResourceTokensService } from './resource-tokens.service';

const SOURCE = 'requirements 2 §4 Group access tokens; reference identity-and-import 4.9';
const ROTATION = 'requirements 2 §7; reference identity-and-import 4.8, 4.9';
type ProjectOrGroupScope = ProjectScope | GroupScope;
type TokenCall<P> = Call<P, ProjectOrGroupScope, SignedInViewer>;

const abilityToManageResourceTokens = <P extends object>() =>
  ability<P, ProjectOrGroupScope>(
    'resource_token.manage',
    (call) => mayManageTokens(call.viewer, toResource(call.within)),
    {
      signedIn: true,
    },
  );
const abilityToCreateToken = ability<CreateResourceToken, ProjectOrGroupScope>(
  'resource_token.create',
  (call) => mayMakeTokens(call.viewer, toResource(call.within)),
  { signedIn: true },
);
// Confirmed: callers who may not manage tokens get 401. Source: ADR 0003.
const refusedAs401 = { forbiddenAs: () => new Unauthorized() };

/** Creates the controller with the token routes of groups or of projects. */
function createResourceTokensController(kind: 'group' | 'project') {
  const base = `/${kind}s/:id/access_tokens`;
  const within = projectOrGroup(kind);
  const missing = (id: number | 'self') => new NotFound(`Could not find ${kind} access token with token_id: ${id}`);

  @Controller()
  class ResourceTokensController {
    constructor(
      readonly service: ResourceTokensService,
      readonly tokens: AccessTokensService,
      readonly queries: ResourceTokensQueries,
    ) {}

    @Endpoint('GET', base, {
      about: `Lists the access tokens of a ${kind}.`,
      source: SOURCE,
      within,
      may: abilityToManageResourceTokens<ListResourceTokens>(),
      params: ListResourceTokens,
      refusals: refusedAs401,
      answers: page(resourceToken),
    })
    list({ within, params, page }: TokenCall<ListResourceTokens>): Promise<Page<ResourceTokenRow>> {
      return this.queries.list(toResource(within), params, page);
    }

    @Endpoint('POST', base, {
      about: `Creates an access token of a ${kind}, with a bot of its own.`,
      source: SOURCE,
      within,
      may: abilityToCreateToken,
      params: CreateResourceToken,
      refusals: { forbiddenAs: () => createTokenCreationRefusal(kind) },
      answers: created(newResourceToken),
    })
    create({ viewer, within, params }: TokenCall<CreateResourceToken>): Promise<NewResourceTokenRow> {
      return this.service.create(viewer, toResource(within), params);
    }

    @Endpoint('GET', `${base}/self`, {
      about: `Returns the token of this request if it belongs to the ${kind}.`,
      source: SOURCE,
      within,
      may: signedIn(),
      params: IdentifyTokenResource,
      fails: [401, 404],
      answers: one(resourceToken),
    })
    async self({ viewer, within }: TokenCall<IdentifyTokenResource>): Promise<ResourceTokenRow> {
      const token = await this.queries.findToken(toResource(within), viewer.tokenId);
      if (token?.user_id === viewer.userId) return token;
      throw mayManageTokens(viewer, toResource(within)) ? missing('self') : new Unauthorized();
    }

    @Endpoint('GET', `${base}/:token_id`, {
      about: `Returns an access token of a ${kind}.`,
      source: SOURCE,
      within,
      may: abilityToManageResourceTokens<IdentifyResourceToken>(),
      params: IdentifyResourceToken,
      fails: [404],
      refusals: refusedAs401,
      answers: one(resourceToken),
    })
    async show({ within, params }: TokenCall<IdentifyResourceToken>): Promise<ResourceTokenRow> {
      const token = await this.queries.findToken(toResource(within), params.token_id);
      if (!token) throw missing(params.token_id);
      return token;
    }

    @Endpoint('POST', `${base}/self/rotate`, {
      about: `Rotates the token of this request if it belongs to the ${kind}.`,
      source: ROTATION,
      within,
      may: signedIn(),
      tokenScopes: ['self_rotate'],
      params: RotateOwnResourceToken,
      fails: [400, 401, 405],
      answers: one(newResourceToken),
    })
    rotateSelf({ viewer, within, params }: TokenCall<RotateOwnResourceToken>): Promise<NewResourceTokenRow> {
      return this.service.rotateOwn(viewer, toResource(within), params.expires_at);
    }

    @Endpoint('POST', `${base}/:token_id/rotate`, {
      about: `Rotates an access token of a ${kind}. Rotating a revoked token revokes its whole family.`,
      source: ROTATION,
      within,
      may: abilityToManageResourceTokens<RotateResourceToken>(),
      params: RotateResourceToken,
      fails: [400, 401, 404],
      refusals: refusedAs401,
      answers: one(newResourceToken),
    })
    rotate({ viewer, within, params }: TokenCall<RotateResourceToken>): Promise<NewResourceTokenRow> {
      return this.service.rotate(viewer, toResource(within), params.token_id, params.expires_at);
    }

    @Endpoint('DELETE', `${base}/:token_id`, {
      about: `Revokes an access token of a ${kind}.`,
      source: 'requirements 2 §7; reference identity-and-import 4.9',
      within,
      may: abilityToManageResourceTokens<IdentifyResourceToken>(),
      params: IdentifyResourceToken,
      fails: [404],
      refusals: { forbiddenAs: () => new Refused(`User does not have permission to delete ${kind} access token`) },
      answers: noContent(),
    })
    async revoke({ within, params }: TokenCall<IdentifyResourceToken>): Promise<void> {
      const token = await this.queries.findToken(toResource(within), params.token_id);
      if (!token) throw missing(params.token_id);
      await this.tokens.revokeToken(token.id);
    }
  }
  return ResourceTokensController;
}

export const GroupAccessTokensController = createResourceTokensController('group');
export const ProjectAccessTokensController = createResourceTokensController('project');
