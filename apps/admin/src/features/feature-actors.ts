import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { featureGateActorKey } from '@rookery/instance';
import type { ActorKind } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import { Refused } from '@rookery/kernel';
import { Database, prepareStatement } from '@rookery/persistence';

/** Usernames and full paths of the actors that a feature is set for. Letter case does not matter. */
export interface ActorNames {
  readonly user?: readonly string[];
  readonly group?: readonly string[];
  readonly namespace?: readonly string[];
  readonly project?: readonly string[];
  readonly repository?: readonly string[];
}

interface NamedActor {
  readonly id: number;
  readonly kind: 'group' | 'user';
  readonly path: string;
}

const NAMESPACES = prepareStatement(
  'feature_namespaces',
  `select n.id, n.kind, lower(n.full_path) as path from directory_namespaces n
   where lower(n.full_path) = any($1::text[])`,
);
const PROJECTS = prepareStatement(
  'feature_projects',
  `select p.id, 'project' as kind, lower(n.full_path || '/' || p.path) as path
   from unnest($1::text[]) asked
   join directory_namespaces n on lower(n.full_path) = regexp_replace(asked, '/[^/]*$', '')
   join directory_projects p on p.namespace_id = n.id and lower(p.path) = regexp_replace(asked, '^.*/', '')
   where asked like '%/%'`,
);

/** Finds the actors that a feature is set for. Source: reference packages-and-admin 10.1. */
@Injectable()
export class FeatureActors {
  constructor(
    private readonly directory: Directory,
    private readonly database: Database,
  ) {}

  /**
   * Returns the actors of the names in the form of gates, such as `Group:7`. Errors: Refused for the first unknown
   * name; Unavailable.
   */
  async resolve(names: ActorNames, viewer: Viewer): Promise<string[]> {
    await this.directory.requireFresh(viewer);
    const { user = [], group = [], namespace = [], project = [], repository = [] } = names;
    const repositories = repository.map((path) => path.replace(/\.git$/, ''));
    const [people, places, projects] = [
      await this.directory.usersByUsername(user),
      await this.findActorsByPath(NAMESPACES, [...group, ...namespace]),
      await this.findActorsByPath(PROJECTS, [...project, ...repositories]),
    ];
    const isGroup = (place: NamedActor | undefined): NamedActor | undefined =>
      place?.kind === 'group' ? place : undefined;
    return [
      ...user.map((name) => requireFeatureGateActorKey(name, 'User', people.get(name.toLowerCase()))),
      ...group.map((name) => requireFeatureGateActorKey(name, 'Group', isGroup(places.get(name.toLowerCase())))),
      ...namespace.map((name) => {
        const place = places.get(name.toLowerCase());
        return requireFeatureGateActorKey(name, place?.kind === 'user' ? 'Namespaces::UserNamespace' : 'Group', place);
      }),
      ...[...project, ...repositories].map((name) =>
        requireFeatureGateActorKey(name, 'Project', projects.get(name.toLowerCase())),
      ),
    ];
  }

  private async findActorsByPath(
    statement: typeof NAMESPACES,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, NamedActor>> {
    const wanted = paths.map((path) => path.toLowerCase());
    const rows = wanted.length === 0 ? [] : await this.database.prepared<NamedActor>(statement, [wanted]);
    return new Map(rows.map((place) => [place.path, place]));
  }
}

function requireFeatureGateActorKey(name: string, kind: ActorKind, found: { readonly id: number } | undefined): string {
  if (!found) throw new Refused(`${name} is not found!`);
  return featureGateActorKey(kind, found.id);
}
