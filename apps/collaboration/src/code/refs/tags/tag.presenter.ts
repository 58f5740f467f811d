import { bool, choice, nested, nullable, object, presenter, text } from '@rookery/api-v4';
import type { FieldType } from '@rookery/api-v4';
import { commitPresenter } from '../../commits/commit.presenter';
import { formatCommitTimeZoned } from '../../repositories/commit-times';
import type { SignatureType } from './tag-signature';
import type { TagRow } from './tags';

/** A time in the zone of the tagger, as git stores it. */
const zoned: FieldType<string> = { ...text, schema: { type: 'string', format: 'date-time' } };

const release = object<{ tag_name: string; description: string | null }>({
  tag_name: text,
  description: nullable(text) as FieldType<string | null>,
});

/** Source: reference repositories 5.2. */
export const tagPresenter = presenter<TagRow>('Tag').fields({
  name: [text, (tag) => tag.name],
  message: [
    nullable(text),
    ({ annotation }) => annotation && annotation.message.replace(/\n$/, ''),
    { about: 'Text of the annotation; null for a lightweight tag.' },
  ],
  target: [text, (tag) => tag.target, { about: 'Id of the tag object; of the commit for a lightweight tag.' }],
  commit: [
    nullable(nested(commitPresenter)),
    ({ commit, projectPath }) => commit && { commit, projectPath, hasTrailers: false },
    { about: 'Commit to which the tag leads; null for a tag of a blob or tree.' },
  ],
  release: [
    nullable(release),
    ({ release: found }) => found && { tag_name: found.tag, description: found.description },
    { about: 'Release of the tag.' },
  ],
  protected: [bool, (tag) => tag.isProtected, { about: 'A rule protects the tag.' }],
  created_at: [
    nullable(zoned),
    ({ annotation }) => annotation?.tagger && formatCommitTimeZoned(annotation.tagger),
    { about: 'Time of the annotation; null for a lightweight tag.' },
  ],
});

/** Signature of a tag, which is never verified, because Rookery manages no keys. */
export const tagSignaturePresenter = presenter<SignatureType>('TagSignature').fields({
  signature_type: [choice('PGP', 'SSH', 'X509'), (type) => type],
  verification_status: [choice('unverified'), () => 'unverified' as const],
});
