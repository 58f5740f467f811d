import { Controller, Inject } from '@nestjs/common';
import type { Call, ScopeResolver } from '@rookery/api-v4';
import { administrator, Endpoint, json, one, page, SCOPE_RESOLVER, signedIn } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS, NotFound } from '@rookery/kernel';
import { NamespacePlansService } from './plans/namespace-plans.service';
import { namespace } from './namespace.presenter';
import type { NamespaceRow } from './namespace-row';
import { ListNamespaces, CheckNamespace, IdentifyNamespace, UpdateNamespace } from './namespaces.dto';
import { NamespacesQueries } from './namespaces.queries';
import { NamespacePathChecksService } from './paths/path-checks.service';
import type { PathCheck } from './paths/path-checks.service';

const SOURCE = 'requirements 2 §4 Namespaces';
const EXISTENCE = {
  type: 'object',
  properties: { exists: { type: 'boolean' }, suggests: { type: 'array', items: { type: 'string' } } },
  required: ['exists', 'suggests'],
};
type SignedInCall<P> = Call<P, undefined, SignedInViewer>;

@Controller()
export class NamespacesController {
  constructor(
    private readonly queries: NamespacesQueries,
    private readonly checks: NamespacePathChecksService,
    private readonly plans: NamespacePlansService,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', '/namespaces', {
    about: "Lists the caller's own namespace and groups. Administrators get all namespaces.",
    source: SOURCE,
    may: signedIn(),
    params: ListNamespaces,
    answers: page(namespace),
  })
  list({ viewer, params, page }: SignedInCall<ListNamespaces>): Promise<Page<NamespaceRow>> {
    return this.queries.list(viewer, params, page);
  }

  @Endpoint('GET', '/namespaces/:id', {
    about: 'Returns a group or personal namespace.',
    source: SOURCE,
    may: signedIn(),
    params: IdentifyNamespace,
    fails: [404],
    answers: one(namespace),
  })
  show({ viewer, params }: SignedInCall<IdentifyNamespace>): Promise<NamespaceRow> {
    return this.requireNamespace(viewer, params.id);
  }

  @Endpoint('GET', '/namespaces/:namespace/exists', {
    about: 'Checks whether a path is taken, and suggests a free one.',
    source: SOURCE,
    may: signedIn(),
    params: CheckNamespace,
    fails: [429],
    answers: json<PathCheck>(EXISTENCE),
  })
  async exists({ viewer, params }: SignedInCall<CheckNamespace>): Promise<PathCheck> {
    const { namespace, parent_id } = params;
    if (parent_id === undefined) return this.checks.checkPath(viewer, namespace, null);
    const parent = await this.scopes.findGroup(parent_id, viewer);
    if (parent && (viewer.isAdmin || parent.level >= ACCESS_LEVELS.guest))
      return this.checks.checkPath(viewer, namespace, parent.id);
    // Members of a group see all its namespaces; other callers learn nothing about those they cannot see.
    const seen = parent && (await this.scopes.findGroup(`${parent.fullPath}/${namespace}`, viewer));
    return this.checks.answerForVisible(viewer, seen !== null);
  }

  @Endpoint('PUT', '/namespaces/:id', {
    about: 'Sets the plan of a top-level namespace.',
    source: 'reference identity-and-import 3',
    may: administrator(),
    params: UpdateNamespace,
    fails: [400, 404],
    answers: one(namespace),
  })
  async update({ viewer, params }: SignedInCall<UpdateNamespace>): Promise<NamespaceRow> {
    const { id } = await this.requireNamespace(viewer, params.id);
    await this.plans.changePlan(id, params.plan);
    return this.requireNamespace(viewer, id);
  }

  private async requireNamespace(viewer: SignedInViewer, ref: number | string): Promise<NamespaceRow> {
    const row = await this.queries.findNamespace(viewer, ref);
    if (!row) throw new NotFound('Namespace');
    return row;
  }
}
