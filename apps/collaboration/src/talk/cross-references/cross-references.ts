import { Injectable } from '@nestjs/common';
import type { NoteableType } from '@rookery/contracts';
import { prepareStatement, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { findReferences } from '../mentions/references';
import type { Reference } from '../mentions/references';
import {
  parentAccessSql,
  NoteableKinds,
  parentIdColumnSql,
  cachePerNoteableKind,
  projectIdSql,
  canReadNoteableRowSql,
} from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { writeCrossReferenceNotes } from '../notes/cross-reference-notes';

/** Commits of a push whose messages may contain references. */
export interface ReferringCommits {
  readonly projectId: number;
  /** The user who pushed. */
  readonly authorId: number;
  readonly commits: readonly {
    readonly id: string;
    readonly message: string;
    /** Issues that the commit closes, which get no other note about it. */
    readonly closedIssueIds: ReadonlySet<number>;
  }[];
}

/** Text that may contain references, with its author and its noteable. */
export interface ReferringText {
  readonly about: { readonly type: NoteableType; readonly id: number };
  readonly authorId: number;
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
}

/** $1 ids. Selects each noteable's reference within its project or group, the reference from elsewhere, and the path. */
const selectSources = cachePerNoteableKind((kind) => {
  const reference = `'${kind.sigil}' || i.${kind.shownId}`;
  const short = kind.shownId === 'sha' ? 'i.sha' : reference;
  return prepareStatement(
    `${kind.table}_referring`,
    kind.parent === 'project'
      ? `select i.id, i.project_id as parent_id, ${short} as short,
           home.full_path || '/' || p.path || ${reference} as long, home.full_path || '/' || p.path as path,
           home.full_path as namespace
         from ${kind.table} i join directory_projects p on p.id = i.project_id
         join directory_namespaces home on home.id = p.namespace_id where i.id = any($1::bigint[])`
      : `select i.id, i.group_id as parent_id, ${short} as short, g.full_path || ${reference} as long, g.full_path as path, g.full_path as namespace
         from ${kind.table} i join directory_namespaces g on g.id = i.group_id where i.id = any($1::bigint[])`,
  );
});
/**
 * $1 positions, $2 paths of namespaces, $3 paths of projects in them (null for noteables of groups), $4 numbers, $5 authors.
 * Selects the referenced noteables that exist and that the author may see.
 */
const selectTargets = cachePerNoteableKind((kind) => {
  const access = parentAccessSql(kind, { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' });
  const ofProject = `join directory_projects project on project.namespace_id = home.id and lower(project.path) = lower(r.path)
     join ${kind.table} i on i.project_id = project.id and i.iid = r.iid`;
  const ofGroup = `join ${kind.table} i on i.group_id = home.id and i.iid = r.iid`;
  return prepareStatement(
    `${kind.table}_referred_to`,
    `select r.place, i.id, ${projectIdSql(kind)} as project_id, ${parentIdColumnSql(kind)} as parent_id
     from unnest($1::integer[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) as r (place, namespace, path, iid, user_id)
     join directory_users u on u.id = r.user_id
     join directory_namespaces home on lower(home.full_path) = lower(r.namespace)
     ${kind.parent === 'project' ? ofProject : ofGroup}
     cross join lateral ${access} a where ${canReadNoteableRowSql(kind, 'a', 'u.id')}
     order by r.place`,
  );
});

/** The project of commits, as a source of references. */
const selectCommitSource = statement<{ project: number }, CommitSource>(
  'cross_references_commit_source',
  `select p.id as parent_id, home.full_path || '/' || p.path as path, home.full_path as namespace, now() as at,
     p.visibility = 'public' and coalesce(p.repository_access_level, 'enabled') = 'enabled' as is_public
   from directory_projects p join directory_namespaces home on home.id = p.namespace_id where p.id = :project::bigint`,
);

/** Maximum number of references of the commits of one push; those of later commits are ignored. */
const REFERENCES_PER_PUSH = 500;

interface ReferenceTarget {
  readonly place: number;
  readonly id: number;
  readonly project_id: number | null;
  readonly parent_id: number;
}

/** Place from which references are resolved. */
interface ReferencePlace {
  /** Id of its project or group. */
  readonly parent_id: number;
  readonly path: string;
  readonly namespace: string;
}
type CommitSource = ReferencePlace & { readonly at: Date; readonly is_public: boolean };
/** A referring noteable. `short` is its reference within its project or group, `long` its reference elsewhere. */
type ReferenceSource = ReferencePlace & { readonly id: number; readonly short: string; readonly long: string };

/** A reference with the source that the note names. */
interface ReferenceCandidate extends Reference {
  readonly place: ReferencePlace;
  readonly isOfProject: boolean;
  /** Null for a commit. */
  readonly about: ReferringText['about'] | null;
  readonly authorId: number;
  readonly at: string;
  /**
   * Returns the name of the source in the note, or null if the note would name a place that its readers may not see.
   */
  describe(isHere: boolean): string | null;
  isExcluded?(kind: NoteableKind, id: number): boolean;
}

/**
 * Finds references in texts and writes the system notes for them. Ignores noteables that the author may not see. Source:
 * reference work-tracking 2.7.
 */
@Injectable()
export class CrossReferences {
  private readonly referable: readonly NoteableKind[];

  constructor(private readonly kinds: NoteableKinds) {
    this.referable = kinds.all.filter(({ shownId }) => shownId === 'iid');
  }

  async writeReferences(tx: Tx, texts: readonly ReferringText[]): Promise<void> {
    const sigils = this.referable.map(({ sigil }) => sigil);
    const referring = texts.flatMap((text) => {
      const references = findReferences(text.text, sigils);
      return references.length > 0 ? [{ ...text, references }] : [];
    });
    if (referring.length === 0) return;
    const from = await this.findSources(tx, referring);
    const wanted = referring.flatMap(({ references, about, ...text }) => {
      const source = from.get(referringNoteableKey(about));
      const kind = this.kinds.kindOfType(about.type);
      if (!source || !kind) return [];
      const describe = (isHere: boolean): string => `${kind.word} ${isHere ? source.short : source.long}`;
      const isOfProject = kind.parent === 'project';
      return references.map((reference) => ({ ...text, about, place: source, isOfProject, describe, ...reference }));
    });
    await this.writeReferenceNotes(tx, wanted);
  }

  /**
   * Writes notes about the commits of a push. A commit of a project whose code is not public is mentioned within its
   * project only. Source: reference work-tracking 2.7.
   */
  async writeCommits(tx: Tx, { projectId, authorId, commits }: ReferringCommits): Promise<void> {
    const sigils = this.referable.map(({ sigil }) => sigil);
    const found = commits.flatMap((commit) =>
      findReferences(commit.message, sigils).map((reference) => ({ commit, reference })),
    );
    if (found.length === 0) return;
    const [place] = await tx.run(selectCommitSource, { project: projectId });
    if (!place) return;
    const from = { place, isOfProject: true, about: null, authorId, at: place.at.toISOString() };
    const wanted = found.slice(0, REFERENCES_PER_PUSH).map(({ commit, reference }): ReferenceCandidate => {
      const elsewhere = place.is_public ? `commit ${place.path}@${commit.id}` : null;
      return {
        ...{ ...reference, ...from, describe: (isHere) => (isHere ? `commit ${commit.id}` : elsewhere) },
        isExcluded: (kind, id) => kind.type === 'Issue' && commit.closedIssueIds.has(id),
      };
    });
    await this.writeReferenceNotes(tx, wanted);
  }

  private async writeReferenceNotes(tx: Tx, wanted: readonly ReferenceCandidate[]): Promise<void> {
    for (const kind of this.referable) {
      const ofKind = wanted
        .filter(({ sigil }) => sigil === kind.sigil)
        .flatMap((one) => {
          const named = resolveReferencePlace(kind, one.path, one);
          return named ? [{ ...one, ...named }] : [];
        });
      if (ofKind.length === 0) continue;
      const rows = await tx.prepared<ReferenceTarget>(selectTargets(kind), [
        ofKind.map((_, place) => place),
        ofKind.map((one) => one.namespace),
        ofKind.map((one) => one.project),
        ofKind.map((one) => one.number),
        ofKind.map((one) => one.authorId),
      ]);
      const references = rows.flatMap(({ place, id, project_id: projectId, parent_id: parentId }) => {
        const one = ofKind[place]!;
        const { about: from, authorId: actorId, at } = one;
        if ((from?.type === kind.type && from.id === id) || one.isExcluded?.(kind, id)) return [];
        const isHere = one.isOfProject === (kind.parent === 'project') && one.place.parent_id === parentId;
        const text = one.describe(isHere);
        return text === null ? [] : [{ noteableId: id, projectId, actorId, text, from, at }];
      });
      await writeCrossReferenceNotes(tx, kind, references);
    }
  }

  private async findSources(tx: Tx, texts: readonly ReferringText[]): Promise<ReadonlyMap<string, ReferenceSource>> {
    const found = new Map<string, ReferenceSource>();
    for (const kind of this.kinds.all) {
      const ids = texts.filter(({ about }) => about.type === kind.type).map(({ about }) => about.id);
      if (ids.length === 0) continue;
      for (const row of await tx.prepared<ReferenceSource>(selectSources(kind), [ids]))
        found.set(referringNoteableKey({ ...row, type: kind.type }), row);
    }
    return found;
  }
}

function referringNoteableKey({ type, id }: ReferringText['about']): string {
  return `${type} ${id}`;
}

/**
 * Returns the namespace and project of a reference. A path without a slash is a project in the same namespace as the
 * text's project, or in the text's group. Returns null for a reference without a path in a text of a group, which has
 * no project.
 */
function resolveReferencePlace(
  kind: NoteableKind,
  path: string | null,
  { place, isOfProject }: Pick<ReferenceCandidate, 'place' | 'isOfProject'>,
): { readonly namespace: string; readonly project: string | null } | null {
  if (kind.parent === 'group') return { namespace: path ?? place.namespace, project: null };
  if (path === null && !isOfProject) return null;
  const fullPath = path ?? place.path;
  const slash = fullPath.lastIndexOf('/');
  return slash < 0
    ? { namespace: place.namespace, project: fullPath }
    : { namespace: fullPath.slice(0, slash), project: fullPath.slice(slash + 1) };
}
