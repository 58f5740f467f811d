import { Controller, Inject } from '@nestjs/common';
import type { Call, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import {
  atLeast,
  checkUnmodifiedSince,
  created,
  Endpoint,
  noContent,
  project as inProject,
  SCOPE_RESOLVER,
} from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { projectShare } from '../../members/sharing/share.presenter';
import type { ShareRow, ShareSource } from '../../members/sharing/share.policy';
import { CreateShare, RemoveShare } from '../../members/members.dto';
import { SharesService } from '../../members/sharing/shares.service';

const SOURCE = 'reference identity-and-import 10.2';

/** Groups invited to a project. */
@Controller()
export class ProjectSharesController {
  constructor(
    private readonly shares: SharesService,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('POST', '/projects/:id/share', {
    about: "Invites a group to a project, with at most the caller's own level.",
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('maintainer'),
    params: CreateShare,
    fails: [400, 404, 409],
    answers: created(projectShare),
  })
  async share({ viewer, within, params }: Call<CreateShare, ProjectScope, SignedInViewer>): Promise<ShareRow> {
    const invited = await this.scopes.findGroup(params.group_id, viewer);
    if (!invited) throw new NotFound('Group');
    return this.shares.share(viewer, toShareSource(within), invited.id, params);
  }

  @Endpoint('DELETE', '/projects/:id/share/:group_id', {
    about: 'Removes the invitation of a group.',
    source: SOURCE,
    within: inProject('id'),
    may: atLeast('maintainer'),
    params: RemoveShare,
    fails: [404, 412],
    answers: noContent(),
  })
  async unshare(call: Call<RemoveShare, ProjectScope, SignedInViewer>): Promise<void> {
    const { viewer, within, params } = call;
    const unchanged = (at: Date): void => checkUnmodifiedSince(call, at);
    await this.shares.unshare(viewer, toShareSource(within), params.group_id, { isAllowed: true, unchanged });
  }
}

function toShareSource({ id, level, namespace }: ProjectScope): ShareSource {
  return { type: 'project', id, namespaceId: namespace.id, level };
}
