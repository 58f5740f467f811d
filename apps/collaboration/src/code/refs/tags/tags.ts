import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { isRefName, listRefNames, objectInfo, parseTag, readObject, readRef } from '@rookery/git';
import type { AnnotatedTag, Commit, NamedRef, ObjectId, RefName, RefOrder, Repository } from '@rookery/git';
import { NotFound } from '@rookery/kernel';
import type { PageRequest, Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { RefProtections } from '../../protected-refs/ref-protections';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { readPeeledCommits } from '../listing/ref-commits';
import { refPage } from '../listing/ref-page';
import type { ListedRef, RefPage } from '../listing/ref-page';
import { createRefSearchFilter, moveExactRefMatchFirst } from '../listing/ref-search';
import { sortTagsByVersion } from './tag-order';
import { detectTagSignatureType } from './tag-signature';
import type { SignatureType } from './tag-signature';

export const TAGS = 'refs/tags/';

/** Filters, order and page of a list of tags, with the names of the API parameters. */
export interface TagQuery {
  readonly search?: string;
  readonly order_by: 'name' | 'updated' | 'version';
  readonly sort: 'asc' | 'desc';
  readonly pagination: 'legacy' | 'keyset';
  readonly page_token?: string;
}

/** A tag with what its answer needs. */
export interface TagRow {
  readonly name: string;
  /** Id of the tag object; of the commit itself for a lightweight tag. */
  readonly target: string;
  /** Null for a lightweight tag. */
  readonly annotation: Pick<AnnotatedTag, 'message' | 'tagger'> | null;
  /** Null for a tag of a blob or tree. */
  readonly commit: Commit | null;
  /** Full path of the project, for URLs. */
  readonly projectPath: string;
  readonly isProtected: boolean;
  /** Null for a tag without a release. */
  readonly release: TagRelease | null;
}

interface TagRelease {
  readonly tag: string;
  readonly description: string | null;
}

const selectReleases = statement<{ project: number; tags: readonly string[] }, TagRelease>(
  'tags_releases',
  'select tag, description from releases where project_id = :project::bigint and tag = any(:tags::text[])',
);

/** The project whose tags are read, and the reader. */
export interface TagReader {
  readonly project: ProjectScope;
  readonly viewer: Viewer;
}

/** Tags of repositories. Source: reference repositories 5.2. */
@Injectable()
export class Tags {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly protections: RefProtections,
    private readonly database: Database,
  ) {}

  /** Lists tags. Commits and annotations are read for the page only. Errors: Unprocessable. */
  list(reader: TagReader, query: TagQuery, page: PageRequest): Promise<RefPage<TagRow>> {
    const isKeyset = query.pagination === 'keyset';
    const nameOrder = query.order_by === 'name' ? query.sort : null;
    return this.repositories.useRepository(reader.project, async (repository) => {
      const refs = await listRefNames(repository, { under: 'refs/tags', order: toRefOrder(query) });
      const fits = query.search ? createRefSearchFilter(query.search) : () => true;
      const found = refs.map(toListedTag).filter(({ shortName }) => fits(shortName));
      const ordered = query.order_by === 'version' ? sortTagsByVersion(found, query.sort) : found;
      const shown = query.search && !isKeyset ? moveExactRefMatchFirst(ordered, query.search) : ordered;
      const position = { page, isKeyset, token: query.page_token, nameOrder };
      return refPage(shown, position, (part) => this.loadTagRows(repository, reader, part));
    });
  }

  /** Returns one tag. Errors: NotFound. */
  findTag(reader: TagReader, name: string): Promise<TagRow> {
    return this.repositories.useRepository(reader.project, async (repository) => {
      const ref = await findTag(repository, name);
      if (ref === null) throw new NotFound('Tag');
      const [row] = await this.loadTagRows(repository, reader, [ref]);
      return row!;
    });
  }

  /** Returns the form of a tag's signature. Errors: NotFound for a tag without one. */
  async findSignatureType(reader: TagReader, name: string): Promise<SignatureType> {
    const { annotation } = await this.findTag(reader, name);
    const type = annotation && detectTagSignatureType(annotation.message);
    if (type === null) throw new NotFound('Signature');
    return type;
  }

  private async loadTagRows(repository: Repository, reader: TagReader, refs: readonly ListedRef[]): Promise<TagRow[]> {
    const ids = refs.map(({ id }) => id);
    const tags = refs.map(({ shortName }) => shortName);
    const [commits, annotations, access, releases] = await Promise.all([
      readPeeledCommits(repository, ids),
      Promise.all(ids.map((id) => readAnnotation(repository, id))),
      this.protections.readAccess(reader),
      this.database.run(selectReleases, { project: reader.project.id, tags }),
    ]);
    return refs.map(({ id, shortName }, index) => ({
      ...{ name: shortName, target: id, projectPath: reader.project.fullPath },
      ...{ annotation: annotations[index] ?? null, commit: commits[index] ?? null },
      isProtected: access.tagAccess(shortName).isProtected,
      release: releases.find(({ tag }) => tag === shortName) ?? null,
    }));
  }
}

/** Returns a tag by its short name, null if there is none. */
export async function findTag(repository: Repository, name: string): Promise<ListedRef | null> {
  const full = `${TAGS}${name}`;
  const id: ObjectId | null = isRefName(full) ? await readRef(repository, full) : null;
  return id === null ? null : toListedTag({ name: full as RefName, id });
}

function toRefOrder({ order_by: by, sort }: TagQuery): RefOrder {
  const order = by === 'updated' ? 'updated' : 'name';
  return sort === 'asc' ? order : `-${order}`;
}

/** A tag may lead to a large blob, so its content is read for annotations only. */
async function readAnnotation(repository: Repository, id: ObjectId): Promise<AnnotatedTag | null> {
  const info = await objectInfo(repository, { rev: id });
  const object = info?.type === 'tag' ? await readObject(repository, { rev: id }) : null;
  return object && parseTag(object.id, object.content);
}

function toListedTag({ name, id }: NamedRef): ListedRef {
  return { name, id, shortName: name.slice(TAGS.length) };
}
