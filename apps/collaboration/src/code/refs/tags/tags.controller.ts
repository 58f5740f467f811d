import { Controller } from '@nestjs/common';
import { checkUnmodifiedSince, created, Endpoint, noContent, one, page } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { readsFilesOf, writesCodeOf } from '../../repositories/code.permission';
import type { RefPage } from '../listing/ref-page';
import { TagChanges } from './tag-changes';
import type { SignatureType } from './tag-signature';
import { tagPresenter, tagSignaturePresenter } from './tag.presenter';
import { CreateTag, ListTags, IdentifyTag } from './tags.dto';
import { Tags } from './tags';
import type { TagRow } from './tags';

const ALL = '/projects/:id/repository/tags';
const ONE = `${ALL}/:tag_name`;
const reads = { ...readsFilesOf, source: 'reference repositories 5.2', tokenScopes: ['read_repository'] } as const;
const writes = { ...writesCodeOf, source: 'reference repositories 5.4' } as const;

/** Tags of a repository. Source: reference repositories 5.2. */
@Controller()
export class TagsController {
  constructor(
    private readonly tags: Tags,
    private readonly changes: TagChanges,
  ) {}

  @Endpoint('GET', ALL, {
    ...reads,
    about: 'Tags of a repository.',
    params: ListTags,
    answers: page(tagPresenter),
    fails: [422],
  })
  list({ params, viewer, within, page: request }: Call<ListTags, ProjectScope>): Promise<RefPage<TagRow>> {
    return this.tags.list({ project: within, viewer }, params, request);
  }

  @Endpoint('GET', ONE, {
    ...reads,
    about: 'One tag.',
    params: IdentifyTag,
    answers: one(tagPresenter),
    fails: [404],
  })
  show({ params, viewer, within }: Call<IdentifyTag, ProjectScope>): Promise<TagRow> {
    return this.tags.findTag({ project: within, viewer }, params.tag_name);
  }

  @Endpoint('GET', `${ONE}/signature`, {
    ...reads,
    about: 'Signature of a tag. It is not verified.',
    params: IdentifyTag,
    answers: one(tagSignaturePresenter),
    fails: [404],
  })
  signature({ params, viewer, within }: Call<IdentifyTag, ProjectScope>): Promise<SignatureType> {
    return this.tags.findSignatureType({ project: within, viewer }, params.tag_name);
  }

  @Endpoint('POST', ALL, {
    ...writes,
    about: 'Creates a tag.',
    params: CreateTag,
    answers: created(tagPresenter),
  })
  create({ params, viewer, within }: Call<CreateTag, ProjectScope, SignedInViewer>): Promise<TagRow> {
    return this.changes.create({ project: within, viewer }, params);
  }

  @Endpoint('DELETE', ONE, {
    ...writes,
    about: 'Deletes a tag.',
    params: IdentifyTag,
    answers: noContent(),
    fails: [404, 412],
  })
  async remove(call: Call<IdentifyTag, ProjectScope, SignedInViewer>): Promise<void> {
    const { params, viewer, within } = call;
    const check = (updatedAt: Date): void => checkUnmodifiedSince(call, updatedAt);
    await this.changes.remove({ project: within, viewer }, params.tag_name, check);
  }
}
