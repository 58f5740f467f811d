import { Int, Text, Upload } from '@rookery/api-v4';
import type { UploadedFile } from '@rookery/api-v4';

/** A file below a thing that everybody may see. */
export class AvatarFileParams {
  @Int() id: number;
  @Text() filename: string;
}

/** A file below a group or project, which the path names as everywhere. */
export class SourceAvatarFileParams {
  @Text() filename: string;
}

export class OwnAvatarParams {
  @Upload({ optional: true, nullable: true, about: 'A blank text removes the picture.' }) avatar?: UploadedFile | null;
}
