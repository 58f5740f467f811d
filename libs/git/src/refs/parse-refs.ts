import { invalidGitArgument } from '../process/git-error';
import type { ObjectId } from '../names/object-id';
import type { ObjectType } from '../repository/object-reader';
import type { RefName } from '../names/ref-name';

/** Ref with its target. */
export interface Ref {
  readonly name: RefName;
  readonly id: ObjectId;
  readonly type: ObjectType;
  /** Target of an annotated tag, else null. */
  readonly peeled: { readonly id: ObjectId; readonly type: ObjectType } | null;
  /** Date of the tagger or committer in seconds since 1970; null for refs to blobs and trees. */
  readonly updatedAt: number | null;
}

/** None of the fields can hold a line end, so that a line end closes the record. */
export const REF_FORMAT =
  '%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)%00%(creatordate:raw)';
const FIELDS = 6;

/** Parses the output of `for-each-ref` with `REF_FORMAT`. */
export function parseRefs(output: Buffer): Ref[] {
  const lines = output.toString().split('\n');
  return lines.filter((line) => line !== '').map(parseRef);
}

function parseRef(line: string): Ref {
  const fields = line.split('\0');
  if (fields.length !== FIELDS) throw invalidGitArgument('The output of for-each-ref is malformed.');
  const [name, id, type, peeledId, peeledType, date] = fields as [string, string, string, string, string, string];
  return {
    name: name as RefName,
    id: id as ObjectId,
    type: type as ObjectType,
    peeled: peeledId === '' ? null : { id: peeledId as ObjectId, type: peeledType as ObjectType },
    updatedAt: date === '' ? null : Number(date.split(' ', 1)[0]),
  };
}
