import { Int, Text, Upload } from '@rookery/api-v4';

/** A file below a thing that everybody may see. */
export class ShowAvatar {
  @Int() id: number;
  @Text() filename: string;
}

/** A file below a group or project, which the path names as everywhere. */
export class ShowSourceAvatar {
  @Text() filename: string;
}

/** One library calls the part `file`. Source: reference identity-and-import 2.6, 14.1. */
export const AvatarUpload = () =>
  Upload({ optional: true, nullable: true, alias: 'file', about: 'A picture; blank takes it away.' });
